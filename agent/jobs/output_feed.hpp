#pragma once

#include "agent/executor/executor.hpp"
#include "schema/link/messages.hpp"

#include <deque>

namespace fathom::agent {

/// One output stream of one attempt on its way to the metascheduler: the file is the store, only the
/// acknowledged length is remembered. A few pieces travel at once. Not thread-safe.
class OutputFeed {
  public:
    OutputFeed(AttemptId attempt, OutputStream stream, std::int64_t acked_bytes)
        : attempt_(std::move(attempt)), stream_(stream), acked_bytes_(acked_bytes), sent_bytes_(acked_bytes)
    {
    }

    /// The next piece as a message; empty when there is nothing to send now.
    std::optional<link::Message> next(Executor& executor);
    /// False when the message is not one of this feed's.
    bool acknowledge(const MessageId& id);
    /// Whatever was not acknowledged will be sent again.
    void connection_lost();
    /// Whether all that there is now has been acknowledged.
    bool is_done(Executor& executor) const;

    std::int64_t acked_bytes() const { return acked_bytes_; }

  private:
    struct Piece {
        MessageId message;
        std::int64_t end_bytes{};
        bool acked{};
    };

    AttemptId attempt_;
    OutputStream stream_;
    std::int64_t acked_bytes_;
    std::int64_t sent_bytes_;
    std::deque<Piece> travelling_;
};

} // namespace fathom::agent
