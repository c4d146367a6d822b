#pragma once

#include "server/centers/session_store.hpp"
#include "server/store/transaction.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::server {

struct SilenceLimits {
    std::chrono::seconds suspect_after{30};
    std::chrono::seconds lost_after{300};
    std::chrono::seconds period{5}; ///< between two looks
};

/// Marks centers whose agents were silent too long: suspect (no new work), then lost (the jobs room
/// decides about what runs there). For the PeriodicTaskRunner.
///
/// Silence counts only while we could have heard: from this replica's first look on, and again from the
/// first look after a pause (the database or the machine was away). Else an outage of ours would take
/// every center down with it. Runs on: one caller at a time.
class HeartbeatMonitor {
  public:
    explicit HeartbeatMonitor(SilenceLimits limits) : limits_(limits) {}

    /// One look. Blocks; pqxx's exceptions pass through. @return the centers that were marked.
    std::vector<SilentCenter> look(pqxx::work& transaction);

  private:
    SilenceLimits limits_;
    std::optional<Timestamp> watched_since_; ///< by the database's clock, as all times here
    Timestamp last_look_{};
};

} // namespace fathom::server
