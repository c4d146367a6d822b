#pragma once

#include "server/centers/session_store.hpp"
#include "server/store/database.hpp"

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
/// decides about what runs there). Every replica looks; one at a time acts.
///
/// Silence counts only while we could have heard: from this replica's first look on, and again from the
/// first look after a pause (the database or the machine was away). Else an outage of ours would take
/// every center down with it.
///
/// Runs on: one coroutine; not thread-safe. `database` must outlive it.
class SilenceDuty {
  public:
    SilenceDuty(Database& database, SilenceLimits limits) : database_(&database), limits_(limits) {}

    /// Looks for ever; spawn it in a TaskGroup, which ends it.
    asio::awaitable<void> run();

    /// One look. @return the centers that were marked.
    asio::awaitable<Result<std::vector<SilentCenter>>> look();

  private:
    Database* database_;
    SilenceLimits limits_;
    std::optional<Timestamp> watched_since_; ///< by the database's clock, as all times here
    Timestamp last_look_{};
};

} // namespace fathom::server
