#pragma once

// Internal to server/centers.

#include "schema/link/messages.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/database.hpp"

#include <functional>
#include <set>

namespace fathom::server {

/// The pieces of kept files that one session asks its agent for. Few are on their way at once: what the agent has to
/// tell besides must not wait behind them for long. Runs on: the session's strand.
class SessionFiles {
  public:
    static constexpr std::size_t kMaxOnTheirWay = 8;

    explicit SessionFiles(Database& database) : database_(&database) {}

    /// Gives queries for pieces that are wanted of this center to `send`, those that were not sent in this connection.
    asio::awaitable<void> offer(CenterId center, std::function<void(const link::Message&)> send);
    /// Keeps a piece for who waits for it. Where that fails, they read of it as an answer that did not come.
    asio::awaitable<void> take(SessionGrant session, link::KeptFilePiece piece);
    /// More are wanted than were on their way at the last offer.
    bool has_more() const { return has_more_; }

  private:
    Database* database_;
    std::set<MessageId> asked_; ///< whose pieces have not come
    std::set<MessageId> taken_; ///< whose pieces came since the last offer began: what it read may have them still open
    bool has_more_ = false;
};

} // namespace fathom::server
