#pragma once

#include "core/decide/scoring/metric_policy.hpp"
#include "core/decide/trust/trust.hpp"
#include "core/net/task_group.hpp"
#include "server/catalog/catalog_history.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/events/wake_signal.hpp"
#include "server/store/database.hpp"
#include "server/store/group_commit.hpp"
#include "server/store/notifier.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace fathom::server {

/// Keeps the newest catalog snapshot in memory: read at start, and again soon after each wake-up "catalog".
/// Thread-safe.
class CatalogCache {
  public:
    /// The trust in unit types by id; those that are missing are trusted.
    using TrustSource = std::function<std::map<std::string, Trust>(pqxx::work& transaction)>;

    /// The active metric policy, for scores of unit types; none when there is none that can score.
    using PolicySource = std::function<std::optional<MetricPolicy>(pqxx::work& transaction)>;

    /// @param trust   asked at every read; empty: all are trusted.
    /// @param policy  asked now and then; empty: no scores.
    CatalogCache(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                 NetworkCalendar calendar = {}, TrustSource trust = {}, PolicySource policy = {});

    /// Before load(): what a GPU's speed-up must be above for jobs to be placed there (S6); 1 unless it is said.
    void set_gpu_threshold(double threshold) { gpu_threshold_ = threshold; }
    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    /// Reads the first snapshot. Blocks. @error as Database::run.
    Result<void> load();
    void start(net::TaskGroup& group);

    /// Never null; empty before the first load.
    CatalogPointer get() const;
    /// What runs teach by now, half a second after they ended at the latest (later where reading them would take more
    /// than a twentieth of the time); estimates of operators are the snapshot's.
    RouteKnowledge knowledge_for(const CatalogSnapshot& catalog) const;
    /// From here on knowledge_for() knows the runs that have ended before, unless reading them would take more than a
    /// twentieth of the time: a job that follows another one of its type is to be told of that. Inside a transaction of
    /// the caller's. Blocks; pqxx's exceptions pass through.
    void read_new_runs(pqxx::work& transaction);
    /// When runs may be read again.
    std::chrono::steady_clock::time_point runs_due() const { return history_.runs_due(); }
    /// The catalog as it was when this was called or later, for those who must not refuse on an old one. All who ask
    /// while it is read share the next read; these take a fifth of the time at most, so some wait for four times as
    /// long as a read takes.
    asio::awaitable<Result<CatalogPointer>> refresh();
    /// Reads the catalog now, inside a transaction of the caller's. Blocks; pqxx's exceptions pass through.
    CatalogPointer reload(pqxx::work& transaction);

  private:
    struct Refresh {};

    asio::awaitable<void> follow_changes();
    asio::awaitable<void> follow_runs();
    asio::awaitable<Result<CatalogPointer>> read_now();
    /// One read for all who wait for it.
    Result<std::vector<CatalogPointer>> read_for(pqxx::work& transaction, std::size_t count);
    /// Sets the networks of a catalog that is being read: those of `previous` where they were read a moment ago.
    void read_networks(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous);

    /// Sets the scores of a catalog that is being read, as read_networks() does.
    void read_scores(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous);

    Database* database_;
    Metrics* metrics_;
    const NetworkCalendar calendar_;
    const TrustSource trust_;
    double gpu_threshold_ = 1;
    const PolicySource policy_;
    CatalogHistory history_;
    WakeSignal wake_;
    WakeSignal runs_wake_;
    mutable std::mutex mutex_;
    CatalogPointer current_;
    std::uint64_t started_reads_ = 0; ///< numbers the reads, so that a slow old one does not replace a newer
    std::uint64_t current_read_ = 0;
    std::chrono::steady_clock::time_point networks_due_; ///< not read again before
    std::chrono::steady_clock::time_point scores_due_;   ///< not computed again before
    std::chrono::steady_clock::time_point refresh_due_;  ///< refresh() does not read before
    GroupCommit<Refresh, CatalogPointer> refreshes_;
};

} // namespace fathom::server
