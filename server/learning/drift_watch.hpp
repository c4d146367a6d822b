#pragma once

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/decide/trust/drift.hpp"
#include "core/net/task_group.hpp"
#include "server/api/compute_pool.hpp"
#include "server/events/wake_signal.hpp"
#include "server/store/database.hpp"
#include "server/store/transaction.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

struct DriftRule {
    std::int64_t least_jobs = 5;      ///< since the last measurement; 0: nothing is ever found
    double threshold = 1.1;           ///< times longer or shorter
    std::chrono::seconds pause{3600}; ///< between two requests for one unit type
};

/// Looks for unit types whose jobs go otherwise than predicted (find_drift), and asks for new measurements of them,
/// which ProbeRefresh::serve_drift() queues.
///
/// A periodic task, of one replica at a time, reads what jobs did; threads for computing look for drift in it, which
/// takes long in a large network, and a transaction of its own asks for what follows. Thread-safe.
class DriftWatch {
  public:
    /// @param actor  for the audit log. The others must outlive it.
    DriftWatch(const DriftRule& rule, Database& database, ComputePool& compute, const asio::any_io_executor& executor,
               Metrics& metrics, std::string actor)
        : rule_(rule), database_(&database), compute_(&compute), metrics_(&metrics), actor_(std::move(actor)),
          wake_(executor)
    {
    }

    /// The periodic task: reads, and wakes who looks for drift.
    Result<void> look(pqxx::work& transaction);
    void start(net::TaskGroup& group);

  private:
    /// What jobs did, and what they are held against.
    struct Evidence {
        std::vector<TimedResidual> residuals;
        std::map<std::string, Timestamp> measured_at; ///< by unit type
    };

    asio::awaitable<void> follow();
    std::optional<Evidence> take_evidence();
    asio::awaitable<void> judge(Evidence evidence);
    void ask_for_probes(pqxx::work& transaction, const Drift& drift, Timestamp measured_at) const;

    const DriftRule rule_;
    Database* database_;
    ComputePool* compute_;
    Metrics* metrics_;
    const std::string actor_;
    WakeSignal wake_;
    std::mutex mutex_;
    std::optional<Evidence> evidence_; ///< the newest that nobody has looked at
};

} // namespace fathom::server
