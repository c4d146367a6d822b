#include "server/centers/sessions/sent_orders.hpp"

#include <algorithm>

namespace fathom::server {

void SentOrders::add_start(const MessageId& order, const AttemptId& attempt, std::size_t bytes)
{
    starts_.emplace(order, SentStart{attempt, bytes});
    starting_bytes_ += bytes;
}

const AttemptId* SentOrders::find_start(const MessageId& order) const
{
    const auto start = starts_.find(order);
    return start == starts_.end() ? nullptr : &start->second.attempt;
}

void SentOrders::forget_start(const MessageId& order, const AttemptId& attempt)
{
    starting_.erase(attempt);
    // Once, whatever else was read meanwhile.
    const auto start = starts_.find(order);
    if (start == starts_.end()) return;
    starting_bytes_ -= start->second.bytes;
    starts_.erase(start);
}

std::vector<std::string> SentOrders::starting() const
{
    std::vector<std::string> attempts;
    for (const AttemptId& attempt : starting_)
        attempts.push_back(attempt.value);
    return attempts;
}

std::int64_t SentOrders::room_for_starts() const
{
    constexpr std::size_t kMaxOnTheirWay_bytes = 16UL << 20U;
    return static_cast<std::int64_t>(kMaxOnTheirWay_bytes - std::min(starting_bytes_, kMaxOnTheirWay_bytes));
}

} // namespace fathom::server
