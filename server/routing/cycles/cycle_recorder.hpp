#pragma once

#include "core/base/metrics.hpp"
#include "core/net/task_group.hpp"
#include "core/schedule/cycle_plan.hpp"
#include "server/api/compute_pool.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/events/wake_signal.hpp"
#include "server/routing/cycles/cycle_store.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// A cycle that has just been decided.
struct DecidedCycle {
    CycleId id;
    CatalogPointer catalog;
    RouteKnowledge knowledge; ///< that it was decided with: of ended runs it is newer than the catalog's
    CycleMoment moment;
    PlanRecord plan;
    double decision_s{}; ///< time that the decisions took
};

/// Keeps what the router decided on, so that each cycle can be decided again. It writes on a thread and a connection of
/// its own, after the cycle: nothing waits for it, and a cycle for which it has no time is not kept, which is counted.
/// Thread-safe. The database must outlive it.
class CycleRecorder {
  public:
    CycleRecorder(Database& database, const asio::any_io_executor& executor, Metrics& metrics, std::string replica);

    /// Returns at once.
    void add(DecidedCycle cycle);
    void start(net::TaskGroup& group);
    /// Writes all that was added. Called by the loop, and by tests.
    asio::awaitable<Result<void>> write_all();

  private:
    /// The parts of a catalog by what they contain, and the part that lists them.
    struct Listed {
        std::vector<std::string> hashes;
        std::size_t unit_types{}; ///< so many of the hashes, the first, are of the unit types
        std::string list;         ///< text of the listing part
        std::string root;         ///< its hash
    };
    asio::awaitable<void> follow();
    bool is_half_full();
    std::shared_ptr<DecidedCycle> next();
    asio::awaitable<Result<void>> write(const DecidedCycle& cycle);
    /// So that the parts of its catalog are there. @return the hash of the part that lists them
    Listed listed_parts(const DecidedCycle& cycle) const;
    asio::awaitable<Result<std::string>> keep_catalog(const DecidedCycle& cycle);
    asio::awaitable<Result<void>> write_parts(const DecidedCycle& cycle, const Listed& listed,
                                              std::vector<std::string> missing);

    Database* database_;
    const std::string replica_;
    WakeSignal wake_;
    ComputePool pool_{{.threads = 1}};
    std::mutex mutex_;
    std::deque<std::shared_ptr<DecidedCycle>> waiting_;
    // Of the one who writes.
    CatalogPointer catalog_;                     ///< the last one that was kept
    RouteKnowledge knowledge_;                   ///< with it
    std::shared_ptr<const UnitTypeLoads> loads_; ///< with it
    std::string loads_hash_;                     ///< of these
    std::vector<std::string> unit_type_hashes_;  ///< of its unit types
    std::string root_;
    std::chrono::steady_clock::time_point touch_due_; ///< its parts are in use: to be noted again
    Metrics::Counter kept_;
    Metrics::Counter left_out_;
    Metrics::Counter bytes_;
    Metrics::SecondsHistogram seconds_;
};

/// The hashes that such a part lists, one a line.
std::vector<std::string> listed_hashes(const std::string& list);

} // namespace fathom::server
