#include "agent/jobs/type_queues.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace fathom::agent {
namespace {

constexpr double kMinChange_s = 60;
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
    return std::abs(*wait_s - *told_s) >= std::max(kMinChange_s, kChange * *told_s);
}

} // namespace

void TypeQueues::keep_only(const std::set<std::string>& unit_types)
{
    std::erase_if(queues_, [&](const auto& one) { return !unit_types.contains(one.first); });
    for (const std::string& type : unit_types)
        queues_.try_emplace(type);
}

void TypeQueues::note(const TypeQueue& queue, Timestamp now)
{
    const auto found = queues_.find(queue.unit_type);
    if (found == queues_.end()) return;
    Entry& entry = found->second;
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
        entry.is_news = entry.was_told;
}

} // namespace fathom::agent
