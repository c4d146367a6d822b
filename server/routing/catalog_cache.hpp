#pragma once

#include "core/decide/trust.hpp"
#include "core/net/task_group.hpp"
#include "server/events/wake_signal.hpp"
#include "server/routing/catalog_snapshot.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace fathom::server {

/// Keeps the newest catalog snapshot in memory: read at start, and again soon after each wake-up "catalog".
/// Thread-safe.
class CatalogCache {
  public:
    /// The trust in unit types by id; those that are missing are trusted.
    using TrustSource = std::function<std::map<std::string, Trust>(pqxx::work& transaction)>;

    /// @param trust  asked at every read; empty: all are trusted.
    CatalogCache(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                 NetworkCalendar calendar = {}, TrustSource trust = {});

    /// Before Notifier::start().
    void subscribe(Notifier& notifier);
    /// Reads the first snapshot. Blocks. @error as Database::run.
    Result<void> load();
    void start(net::TaskGroup& group);

    /// Never null; empty before the first load.
    CatalogPointer get() const;
    /// Reads the catalog now, for those who must not decide on an old one.
    asio::awaitable<Result<CatalogPointer>> refresh();
    /// The same inside a transaction of the caller's. Blocks; pqxx's exceptions pass through.
    CatalogPointer reload(pqxx::work& transaction);

  private:
    asio::awaitable<void> follow_changes();
    /// Sets the networks of a catalog that is being read: those of `previous` where they were read a moment ago.
    void read_networks(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous);

    Database* database_;
    Metrics* metrics_;
    const NetworkCalendar calendar_;
    const TrustSource trust_;
    WakeSignal wake_;
    mutable std::mutex mutex_;
    CatalogPointer current_;
    std::uint64_t started_reads_ = 0; ///< numbers the reads, so that a slow old one does not replace a newer
    std::uint64_t current_read_ = 0;
    std::chrono::steady_clock::time_point networks_due_; ///< not read again before
};

} // namespace fathom::server
