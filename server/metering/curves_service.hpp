#pragma once

#include "server/metering/curves_store.hpp"
#include "server/metering/trust_store.hpp"
#include "server/store/database.hpp"

#include <map>

namespace fathom::server {

/// What measurements say over counts (M19), beside neighbours, over the week (M20), and against the jobs that ran
/// (trust). All is computed from raw rows when asked. Thread-safe. `database` must outlive it.
class CurvesService {
  public:
    explicit CurvesService(Database& database) : database_(&database) {}

    asio::awaitable<Result<Page<MeasuredCounts>>> measured_counts(CurveFilter filter, std::int64_t size,
                                                                  std::string after);
    asio::awaitable<Result<Page<MeasuredLoads>>> measured_loads(CurveFilter filter, std::int64_t size,
                                                                std::string after);
    asio::awaitable<Result<Page<TimedTransfers>>> transfers(CurveFilter filter, std::int64_t size, std::string after);

    struct JudgedUnitType {
        UnitTypeName place;
        Trust trust;
        VerifiedResults verified;
    };
    /// Every unit type that has run a job or a probe; few enough for one answer.
    asio::awaitable<Result<std::vector<JudgedUnitType>>> trust();

  private:
    Database* database_;
};

} // namespace fathom::server
