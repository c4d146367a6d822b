#pragma once

// Internal to server/centers.

#include "server/centers/sessions/agent_session.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

struct SessionKeeperOptions {
    std::string replica;                      ///< this process
    std::chrono::milliseconds order_tick{};   ///< orders are looked for at least so often
    std::chrono::milliseconds touch_period{}; ///< a session's last_seen_at is written at most so often
    std::chrono::milliseconds longest_away{}; ///< sessions end when the database could not be reached for so long
};

/// What every session of this replica needs again and again, done for all of them together: last_seen_at is written,
/// sessions end that were superseded or revoked, and those are woken whose orders nobody has told them of. So ten
/// thousand agents that only live cost a few statements a second, however many they are. A replica that cannot reach
/// the database writes down of none of its agents that they live: it ends their sessions before their centers' jobs
/// count as lost, so that they come to a replica that can.
class SessionKeeper {
  public:
    /// The sessions that are open now.
    using Sessions = std::function<std::vector<std::shared_ptr<AgentSession>>()>;

    SessionKeeper(AgentSessionParts parts, SessionKeeperOptions options, Sessions sessions);

    /// Round after round, until its task is cancelled.
    asio::awaitable<void> run();

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;
    /// A session of which something is to be written down, or looked up.
    struct Due {
        std::shared_ptr<AgentSession> session;
        bool is_touched{}; ///< its agent was heard; else only whether it holds is asked
    };

    std::vector<Due> due_sessions(SteadyTime now) const;
    asio::awaitable<void> keep_standing(std::vector<Due> due, SteadyTime now);
    /// In a round that did not reach the database.
    void note_away(SteadyTime now);
    /// Wakes those for whom there are orders.
    asio::awaitable<void> look_for_orders() const;

    const AgentSessionParts parts_;
    const SessionKeeperOptions options_;
    const Sessions sessions_;
    std::optional<SteadyTime> away_since_; ///< the database could not be reached since then
};

} // namespace fathom::server
