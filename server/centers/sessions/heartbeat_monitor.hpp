#pragma once

#include "server/centers/session_store.hpp"
#include "server/store/transaction.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::server {

struct HeartbeatLimits {
    std::chrono::seconds suspect_after{30};
    std::chrono::seconds lost_after{300};
    std::chrono::seconds period{5}; ///< between two looks
};

/// Marks centers whose agents were silent too long: suspect (no new work), then lost (the jobs room
/// decides about what runs there). For the PeriodicTaskRunner.
///
/// Silence counts only while we could have heard: from this replica's first look on, and again from the
/// first look after a pause (the database or the machine was away). Else an outage of ours would take
/// every center down with it. It counts anew as well when the database's clock has jumped, forward or back:
/// the steady clock of this process tells. Runs on: one caller at a time.
class HeartbeatMonitor {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit HeartbeatMonitor(HeartbeatLimits limits) : limits_(limits) {}

    /// One look, at `now` by the steady clock. Blocks; pqxx's exceptions pass through. @return the centers that were
    /// marked.
    std::vector<SilentCenter> look(pqxx::work& transaction, SteadyTime now = std::chrono::steady_clock::now());

  private:
    /// The moment of a look by both clocks.
    struct Moment {
        Timestamp database;
        SteadyTime steady;
    };
    bool counts_anew(const Moment& now) const;

    HeartbeatLimits limits_;
    std::optional<Moment> last_look_;
    Timestamp watched_since_{}; ///< by the database's clock
};

} // namespace fathom::server
