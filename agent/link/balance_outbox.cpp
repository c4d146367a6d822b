#include "agent/link/balance_outbox.hpp"

#include "core/base/log.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::agent {

void BalanceOutbox::add(std::vector<BalanceStep> steps)
{
    std::move(steps.begin(), steps.end(), std::back_inserter(waiting_));
    drop_oldest();
}

void BalanceOutbox::drop_oldest()
{
    while (!waiting_.empty() && waiting_count() > most_) {
        waiting_.pop_front();
        ++dropped_count_;
    }
}

void BalanceOutbox::return_travelling()
{
    dropped_count_ += travelling_.dropped_count;
    waiting_.insert(waiting_.begin(), std::make_move_iterator(travelling_.steps.begin()),
                    std::make_move_iterator(travelling_.steps.end()));
    travelling_ = {};
    message_.reset();
    drop_oldest();
}

void BalanceOutbox::connected(const link::Welcome& welcome)
{
    return_travelling();
    most_in_message_ = std::min(static_cast<std::size_t>(welcome.balance_steps), kMaxBalanceSteps);
    pause_ = std::chrono::duration<double>(welcome.balance_pause_s);
    next_at_ = {};
}

void BalanceOutbox::disconnected()
{
    return_travelling();
    most_in_message_ = 0;
}

std::optional<link::Message> BalanceOutbox::next(SteadyTime now)
{
    if (most_in_message_ == 0 || message_ || waiting_.empty() || now < next_at_) return std::nullopt;
    const auto count = static_cast<std::ptrdiff_t>(std::min(most_in_message_, waiting_.size()));
    travelling_.steps.assign(std::make_move_iterator(waiting_.begin()),
                             std::make_move_iterator(waiting_.begin() + count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    travelling_.dropped_count = std::exchange(dropped_count_, 0);
    next_at_ = now + std::chrono::duration_cast<SteadyTime::duration>(pause_);
    link::Message message = link::make_message(travelling_);
    message_ = message.id;
    return message;
}

void BalanceOutbox::acknowledged(const link::Ack& ack)
{
    if (message_ != ack.of) return;
    if (ack.error)
        log_warning("balance_steps_refused", {{"count", travelling_.steps.size()}, {"reason", describe(*ack.error)}});
    travelling_ = {};
    message_.reset();
}

} // namespace fathom::agent
