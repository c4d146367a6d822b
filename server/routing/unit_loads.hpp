#pragma once

#include "core/net/task_group.hpp"
#include "core/schedule/schedule.hpp"
#include "server/api/compute_pool.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/routing/unit_load_store.hpp"

#include <memory>
#include <mutex>

namespace fathom::server {

/// Keeps in the database how busy the units of each type have been of late, and what they are worth to the jobs that
/// come, so that all replicas decide by the same, also after a restart. Each replica looks every ten seconds; one of
/// them brings the rows up to date. Thread-safe. The references must outlive it.
class UnitLoadService {
  public:
    UnitLoadService(Database& database, const CatalogCache& catalog, ComputePool& compute, const Clock& clock)
        : database_(&database), catalog_(&catalog), compute_(&compute), clock_(&clock),
          current_(std::make_shared<const UnitTypeLoads>())
    {
    }

    void start(net::TaskGroup& group, const asio::any_io_executor& executor);
    /// As of the last look; never null, and empty before the first.
    std::shared_ptr<const UnitTypeLoads> get() const;
    /// Looks now. Called by the loop, and by tests.
    asio::awaitable<Result<void>> look();

  private:
    /// What a look finds in the database.
    struct Found {
        UnitLoadRows rows;
        UnitLoadLook last;
        std::map<std::string, std::int64_t> used;
        std::vector<WaitingJob> newest; ///< none: the shadow prices know most of them
    };
    asio::awaitable<void> follow();
    static Result<Found> read(pqxx::work& transaction);
    static UnitLoadRows next_rows(const Found& found, const CatalogSnapshot& catalog, Timestamp now);
    /// Writes what has changed, unless another replica has looked meanwhile.
    static Result<void> write(pqxx::work& transaction, const Found& found, const UnitLoadRows& rows, Timestamp now);

    Database* database_;
    const CatalogCache* catalog_;
    ComputePool* compute_;
    const Clock* clock_;
    mutable std::mutex mutex_;
    std::shared_ptr<const UnitTypeLoads> current_;
};

/// The rows after a look, of all unit types of the catalog: since the last look so much was in use as was found then.
/// A gap of more than an hour (no database, a clock that was set) counts as one.
UnitLoadRows note_units_in_use(const UnitLoadRows& rows, const UnitLoadLook& last,
                               const std::map<std::string, std::int64_t>& used, const CatalogSnapshot& catalog,
                               Timestamp now);

/// The rows as the scheduler asks for them at that moment.
UnitTypeLoads loads_at(const UnitLoadRows& rows, Timestamp now);

} // namespace fathom::server
