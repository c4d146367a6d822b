#include "agent/jobs/type_queues.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace fathom::agent {
namespace {

constexpr double kAtOnce_s = 5; ///< what starts within it does not wait
constexpr double kLeastChange_s = 60;
constexpr double kChange = 0.2; ///< of what was told

std::optional<double> wait_of(const std::optional<Timestamp>& start, Timestamp now)
{
    if (!start) return std::nullopt;
    return std::max(std::chrono::duration<double>(*start - now).count(), 0.0);
}

bool differs(const std::optional<double>& told_s, const std::optional<double>& wait_s)
{
    if (!told_s || !wait_s) return told_s.has_value() != wait_s.has_value();
    if ((*told_s <= kAtOnce_s) != (*wait_s <= kAtOnce_s)) return true;
    return std::abs(*wait_s - *told_s) >= std::max(kLeastChange_s, kChange * *told_s);
}

} // namespace

void TypeQueues::note(const TypeQueue& queue, Timestamp now)
{
    Entry& entry = queues_[queue.unit_type];
    const std::optional<double> wait_s = wait_of(queue.expected_start, now);
    entry.expected_start = queue.expected_start;
    if (entry.was_told && !differs(entry.told_wait_s, wait_s)) return;
    entry.was_told = true;
    entry.told_wait_s = wait_s;
    entry.is_news = true;
}

std::vector<TypeQueue> TypeQueues::news()
{
    std::vector<TypeQueue> news;
    for (auto& [type, entry] : queues_) {
        if (!std::exchange(entry.is_news, false)) continue;
        news.push_back({type, entry.expected_start});
    }
    return news;
}

void TypeQueues::tell_again()
{
    for (auto& [type, entry] : queues_)
        entry.is_news = true;
}

} // namespace fathom::agent
