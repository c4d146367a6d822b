#include "core/decide/queue/order_jobs.hpp"

#include "core/decide/queue/order_index.hpp"
#include "core/decide/queue/wait_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace fathom {
namespace {

/// The order of jobs that go first whatever they weigh: who is longest beyond its starvation limit, or, as
/// nobody's starvation limit counts when the first come are the first served, who has waited longest.
bool comes_first(const OrderIndex& a, const WaitingJobView& a_job, const OrderIndex& b, const WaitingJobView& b_job)
{
    const double a_s = a.is_overdue ? a.overdue_s : a.waited_s;
    const double b_s = b.is_overdue ? b.overdue_s : b.waited_s;
    return std::tie(b_s, a_job.id) < std::tie(a_s, b_job.id);
}

struct RuleName {
    OrderRule rule;
    std::string_view name;
};
constexpr RuleName kRuleNames[] = {{OrderRule::kFirstCome, "first_come"},
                                   {OrderRule::kShortestFirst, "shortest_first"},
                                   {OrderRule::kAdvantage, "advantage"},
                                   {OrderRule::kMinCostAssignment, "min_cost_assignment"}};

} // namespace

std::string_view to_string(OrderRule rule)
{
    for (const RuleName& one : kRuleNames) {
        if (one.rule == rule) return one.name;
    }
    return "";
}

std::optional<OrderRule> parse_order_rule(std::string_view text)
{
    for (const RuleName& one : kRuleNames) {
        if (one.name == text) return one.rule;
    }
    return std::nullopt;
}

std::vector<OrderedStart> order_starts(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings)
{
    return queue_of(jobs, unit_types, settings).decide(0);
}

std::vector<std::size_t> order_waiting(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                       const OrderSettings& settings)
{
    const OrderIndices indices = order_indices(jobs, unit_types, settings);
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> best;
    best.reserve(jobs.size());
    for (const OrderIndex& job : indices.jobs)
        best.push_back(job.least());
    const auto goes_first = [&](std::size_t i) {
        return settings.rule == OrderRule::kFirstCome || indices.jobs[i].is_overdue;
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (goes_first(a) != goes_first(b)) return goes_first(a);
        if (goes_first(a)) return comes_first(indices.jobs[a], jobs[a], indices.jobs[b], jobs[b]);
        return std::tie(best[a], jobs[a].id) < std::tie(best[b], jobs[b].id);
    });
    return order;
}

} // namespace fathom
