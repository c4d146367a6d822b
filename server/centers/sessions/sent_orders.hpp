#pragma once

// Internal to server/centers.

#include "core/base/id.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fathom::server {

/// What an agent was told of attempts in one connection: each is told once to start, to end and to come back. Not
/// thread-safe.
class SentOrders {
  public:
    /// False where the attempt's start is on its way, sent and not acknowledged.
    bool begin_start(const AttemptId& attempt) { return starting_.insert(attempt).second; }
    /// @param order  the message by which a start that was begun is sent, of so many bytes
    void add_start(const MessageId& order, const AttemptId& attempt, std::size_t bytes);
    /// Whose start that message orders; nullptr: nobody's, or it was forgotten.
    const AttemptId* find_start(const MessageId& order) const;
    /// The start is not on its way any more.
    void forget_start(const MessageId& order, const AttemptId& attempt);
    /// False where the attempt was told it in this connection before.
    bool add_cancel(const AttemptId& attempt) { return cancelled_.insert(attempt).second; }
    bool add_recall(const AttemptId& attempt) { return recalled_.insert(attempt).second; }
    void note_end(const AttemptId& attempt) { cancelled_.erase(attempt); }

    /// Whose starts are on their way.
    std::vector<std::string> starting() const;
    /// Bytes that further starts may have: far less than what the connection lets wait (net::ServerOptions), so that
    /// our own orders never close it.
    std::int64_t room_for_starts() const;

  private:
    /// An order to start that was sent and is not acknowledged.
    struct SentStart {
        AttemptId attempt;
        std::size_t bytes{};
    };

    std::map<MessageId, SentStart> starts_;
    std::set<AttemptId> starting_; ///< the same attempts
    std::size_t starting_bytes_ = 0;
    std::set<AttemptId> cancelled_; ///< told to end
    std::set<AttemptId> recalled_;  ///< told to come back, unless they have started
};

} // namespace fathom::server
