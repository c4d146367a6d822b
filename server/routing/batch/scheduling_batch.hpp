#pragma once

#include "server/routing/batch/batch_plan.hpp"
#include "server/routing/batch/batch_read.hpp"
#include "server/routing/batch/batch_report.hpp"
#include "server/routing/batch/batch_requests.hpp"
#include "server/routing/batch/batch_tools.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace fathom::server {

/// Routes one batch of waiting jobs in three steps: read() in a transaction, plan() in none, with nothing locked, and
/// commit() in a second one, which keeps what still holds: jobs that wait as they did, units that are free, quotas that
/// are left. Each step makes a value of the one before (ReadBatch, PlannedBatch). Not thread-safe; one object for each
/// batch, and for each run of read().
class SchedulingBatch {
  public:
    /// @param tools  all of them
    SchedulingBatch(const BatchTools& tools, std::shared_ptr<const UnitTypeLoads> loads);

    /// As read_batch().
    Result<void> read(pqxx::work& transaction, CycleCursor state, std::int64_t limit);
    /// After read(): whether there are jobs to decide on; else report() is all.
    bool has_ready() const { return read_.has_ready(); }
    const BatchReport& report() const { return read_.report; }
    /// As plan_batch(); once, after read().
    Result<void> plan();
    /// As commit_batch(); leaves the batch as it is, so that it may be run again.
    Result<BatchReport> commit(pqxx::work& transaction) const;
    /// After plan(), once: what was decided on, for the recorder; empty without one.
    std::optional<DecidedCycle> take_cycle() { return std::exchange(decided_.cycle, std::nullopt); }

  private:
    BatchTools tools_;
    std::shared_ptr<const UnitTypeLoads> loads_;
    BatchRequests requests_;
    ReadBatch read_;
    DecidedBatch decided_;
};

} // namespace fathom::server
