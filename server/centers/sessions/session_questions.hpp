#pragma once

// Internal to server/centers.

#include "schema/link/messages.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/database.hpp"

#include <functional>
#include <map>
#include <set>

namespace fathom::server {

/// The questions that one session carries to its agent (M13b), and what becomes of them.
/// Runs on: the session's strand.
class SessionQuestions {
  public:
    explicit SessionQuestions(Database& database) : database_(&database) {}

    /// Gives every question that waits for this center and was not sent in this connection to `send`.
    asio::awaitable<void> offer(CenterId center, std::function<void(const link::Message&)> send);
    asio::awaitable<Result<void>> answered(SessionGrant session, link::UnitTypesAnswer answer);
    /// True when the acknowledgement is of a question. An agent that refuses it does not know how to answer.
    bool is_question(const MessageId& message) const { return sent_.contains(message); }
    asio::awaitable<Result<void>> refused(CenterId center, MessageId message);

  private:
    Database* database_;
    std::map<MessageId, MessageId> sent_; ///< message -> question
    std::set<MessageId> asked_;           ///< the same questions
};

} // namespace fathom::server
