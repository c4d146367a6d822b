#pragma once

#include "agent/jobs/attempt_book.hpp"

#include <deque>

namespace fathom::agent {

/// Steps of balance loops on their way to the metascheduler, at the pace that it sets: one message at a time, the next
/// when the last is acknowledged and its pause is over. What waits is bounded: the oldest go first, and are counted. It
/// is in memory only, since the trace of the center has it all. Not thread-safe.
class BalanceOutbox {
  public:
    /// @param most  steps that wait, those on their way included.
    explicit BalanceOutbox(std::size_t most = 4000) : most_(most) {}

    void add(std::vector<BalanceStep> steps);
    /// A new connection: what was on its way is sent again. Nothing is sent to a server that takes none.
    void connected(const link::Welcome& welcome);
    void disconnected();
    /// The next message, when it may be sent.
    std::optional<link::Message> next(SteadyTime now);
    /// Of any message. Steps that were refused are not sent again.
    void acknowledged(const link::Ack& ack);

    std::size_t waiting_count() const { return waiting_.size() + travelling_.steps.size(); }

  private:
    void return_travelling();
    void drop_oldest();

    std::size_t most_;
    std::deque<BalanceStep> waiting_;
    std::int64_t dropped_count_ = 0; ///< not told yet
    BalanceSteps travelling_;
    std::optional<MessageId> message_; ///< that has them
    std::size_t most_in_message_ = 0;  ///< 0: the server takes none
    std::chrono::duration<double> pause_{};
    SteadyTime next_at_{};
};

} // namespace fathom::agent
