#pragma once

#include "core/base/json_reader.hpp"
#include "core/schedule/cycle_replay.hpp"
#include "server/api/compute_pool.hpp"
#include "server/routing/cycles/cycle_jobs.hpp"
#include "server/routing/cycles/cycle_store.hpp"
#include "server/store/database.hpp"
#include "server/store/page.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// A cycle with its catalog, as it is stored.
struct LoadedCycle {
    StoredCycle cycle;
    std::vector<std::string> parts; ///< of the catalog, compressed
};

/// Reads a cycle with all that it refers to. Blocks; pqxx's exceptions pass through.
/// @error kNotFound  the cycle was never kept or has been removed, or its catalog has been.
Result<LoadedCycle> load_cycle(pqxx::work& transaction, const CycleId& id);

/// Decides the cycle again. Only computes.
/// @error kConflict  another version of fathomd wrote the cycle in a form that this one does not read.
Result<CycleReplay> replay_loaded(const LoadedCycle& loaded);

/// What would have changed the job's place in the cycle, as far as a search of a few seconds finds. Empty: the job was
/// not in the cycle.
std::vector<Counterfactual> counterfactuals_in(const CycleReplay& replay, std::string_view job,
                                               std::string_view currency);

/// Decides stored cycles again. Thread-safe.
class CycleService {
  public:
    CycleService(Database& database, ComputePool& compute) : database_(&database), compute_(&compute) {}

    /// Those that were decided within the times, the newest first.
    asio::awaitable<Result<Page<StoredCycle>>> list(TimeRange within, std::string after, std::int64_t limit);

    /// @error kNotFound  it was never kept or has been removed.
    asio::awaitable<Result<StoredCycle>> get(CycleId id);

    /// The jobs that it decided on; `after` is the `next_after` of the page before.
    /// @error kNotFound  as get().  kInvalid  `after` is none of this list's.  Others as read_cycle_jobs() and
    ///                   ComputePool::run.
    asio::awaitable<Result<Page<CycleJob>>> list_jobs(CycleId id, std::string asker, std::string after,
                                                      std::int64_t limit);

    struct Question {
        CycleId cycle;
        std::string job;   ///< id; empty: no job's place is asked for
        std::string asker; ///< token id
    };
    /// Whether the same plan comes out, in what it differs, and the place of a job in it.
    /// @error kNotFound  as load_cycle(); and where the job was not in the cycle. Others as ComputePool::run.
    asio::awaitable<Result<Json>> replay(Question question);

  private:
    Database* database_;
    ComputePool* compute_;
};

Json to_json(const StoredCycle& cycle);

} // namespace fathom::server
