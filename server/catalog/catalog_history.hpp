#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace fathom::server {

/// What jobs that have run teach, read with the catalog: the newest 20 000 predictions of the last 90 days whose
/// attempts have ended, and the measurements that unit types are compared by. It is made anew where those have changed,
/// but takes a twentieth of the time at most. Thread-safe.
class CatalogHistory {
  public:
    /// For `catalog`, all of whose measurements are there; `previous` where another thread is making it. Blocks; pqxx's
    /// exceptions pass through.
    RouteKnowledge read(pqxx::work& transaction, const CatalogSnapshot& catalog, const RouteKnowledge& previous);
    /// Only what runs and waits teach, for newest_runs(); nothing where its share of the time is spent.
    void read_runs_only(pqxx::work& transaction);
    /// What runs and waits teach, as it was read last; without estimates.
    RouteKnowledge newest_runs() const;
    /// When runs may be read again.
    std::chrono::steady_clock::time_point runs_due() const { return runs_due_.load(); }

  private:
    void read_runs(pqxx::work& transaction);
    void compare_unit_types(const CatalogSnapshot& catalog);

    std::mutex mutex_; ///< held while reading
    RouteKnowledge known_;
    mutable std::mutex runs_mutex_;
    RouteKnowledge newest_runs_;   ///< of runs and waits, under runs_mutex_
    std::string newest_;           ///< of the runs that `known_` was made of
    std::uint64_t measurements_{}; ///< fingerprint of those that `known_` was made of
    std::atomic<std::chrono::steady_clock::time_point> runs_due_{};
    std::chrono::steady_clock::time_point estimates_due_;
};

} // namespace fathom::server
