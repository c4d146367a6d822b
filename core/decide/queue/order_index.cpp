#include "core/decide/queue/order_index.hpp"

#include "core/base/never.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/queue/order_jobs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom {
namespace {

constexpr double kPriorityPerDoubling = 20; ///< 100 points of priority weigh 32 times
constexpr double kMinLoad = 1.0 / 64;       ///< a project that has had nothing yet does not come before everything

bool can_be_used(const JobOption& option, std::span<const UnitTypeLoad> unit_types)
{
    return option.unit_type < unit_types.size() && option.unit_count > 0 && option.run_s > 0 &&
           option.unit_count <= unit_types[option.unit_type].unit_count;
}

/// Work of the option in seconds of a unit of shadow price 1.
double shadow_price_of(const JobOption& option, std::span<const UnitTypeLoad> unit_types)
{
    return unit_types[option.unit_type].shadow_price * option.run_s * static_cast<double>(option.unit_count);
}

/// base^exponent; whole exponents, as the usual one is, without the general function, which would take most of the
/// time.
double power(double base, double exponent)
{
    constexpr int kMaxFactors = 16;
    const int factors = static_cast<int>(std::clamp(exponent, 0.0, double{kMaxFactors}));
    if (factors != exponent) return portable::pow(base, exponent);
    double result = 1;
    for (int i = 0; i < factors; ++i)
        result *= base;
    return result;
}

/// The figures of one job, and of its list of options where no job before has the same.
OrderIndex weigh(const WaitingJobView& job, std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings,
                 std::unordered_map<const void*, WeighedOptions>& lists)
{
    const auto [known, is_new] = lists.try_emplace(job.options.list());
    WeighedOptions& options = known->second;
    if (is_new) {
        options.base.resize(job.options.size());
        options.shortest_s = weigh_places(job.options, unit_types, settings, options.base);
        const auto least = std::min_element(options.base.begin(), options.base.end());
        options.least = least == options.base.end() ? kNever : *least;
    }
    OrderIndex result{.waited_s = job.waited_s, .weight = kNever, .options = &options};
    if (options.shortest_s == kNever) return result;
    result.overdue_s = job.waited_s - starvation_limit_of(settings, options.shortest_s);
    result.is_overdue = settings.rule != OrderRule::kFirstCome && result.overdue_s >= 0;
    result.weight = own_weight(job.fair_load, job.priority, job.latest_start_s, options.shortest_s);
    return result;
}

/// A gang starts together, so all its members weigh alike: by the mean of their best places (Smith's rule for a group:
/// work per job that ends), each place still by how well it suits the member.
void align_gang(std::span<const std::size_t> members, std::span<OrderIndex> jobs)
{
    double mean = 0;
    OrderIndex together;
    together.overdue_s = -kNever;
    for (const std::size_t member : members) {
        mean += jobs[member].least() / static_cast<double>(members.size());
        together.is_overdue = together.is_overdue || jobs[member].is_overdue;
        together.waited_s = std::max(together.waited_s, jobs[member].waited_s);
        together.overdue_s = std::max(together.overdue_s, jobs[member].overdue_s);
    }
    for (const std::size_t member : members) {
        OrderIndex& own = jobs[member];
        own.is_overdue = together.is_overdue;
        own.waited_s = together.waited_s;
        own.overdue_s = together.overdue_s;
        const double least = own.least();
        if (mean == kNever)
            own.weight = kNever;
        else if (least > 0)
            own.weight *= mean / least;
    }
}

} // namespace

bool weighs_places(OrderRule rule)
{
    return rule == OrderRule::kAdvantage || rule == OrderRule::kMinCostAssignment;
}

double weigh_places(std::span<const JobOption> options, std::span<const UnitTypeLoad> unit_types,
                    const OrderSettings& settings, std::span<double> base)
{
    double shortest_s = kNever;
    double least_work = kNever;
    for (std::size_t i = 0; i < options.size(); ++i) {
        base[i] = kNever;
        if (!can_be_used(options[i], unit_types)) continue;
        shortest_s = std::min(shortest_s, options[i].run_s);
        base[i] = shadow_price_of(options[i], unit_types);
        least_work = std::min(least_work, base[i]);
    }
    const bool weighs = weighs_places(settings.rule);
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (base[i] == kNever) continue;
        base[i] = options[i].relative_objective *
                  (weighs ? least_work * power(base[i] / least_work, settings.advantage_exponent) : options[i].run_s);
    }
    return shortest_s;
}

double own_weight(double fair_load, std::int64_t priority, std::optional<double> latest_start_s, double shortest_s)
{
    double weight = std::max(fair_load, kMinLoad);
    if (priority != 0) weight *= portable::exp2(-static_cast<double>(priority) / kPriorityPerDoubling);
    // With less time left than it would run, every wait may cost the deadline; one that is past is no reason to hurry.
    if (latest_start_s && *latest_start_s >= 0) weight *= std::min(1.0, *latest_start_s / shortest_s);
    return weight;
}

double starvation_limit_of(const OrderSettings& settings, double shortest_s)
{
    return std::max(settings.starvation_limit_s, settings.starvation_limit_factor * shortest_s);
}

std::map<std::string_view, std::vector<std::size_t>> complete_gangs(std::span<const WaitingJobView> jobs)
{
    std::map<std::string_view, std::vector<std::size_t>> gangs;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i].gang.empty()) gangs[jobs[i].gang].push_back(i);
    }
    for (auto gang = gangs.begin(); gang != gangs.end();) {
        std::vector<std::size_t>& members = gang->second;
        std::sort(members.begin(), members.end(),
                  [&](std::size_t a, std::size_t b) { return jobs[a].id < jobs[b].id; });
        const std::int64_t wanted = jobs[members.front()].gang_size;
        const bool is_complete = std::ssize(members) >= wanted;
        gang = is_complete ? std::next(gang) : gangs.erase(gang);
    }
    return gangs;
}

OrderIndices order_indices(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                           const OrderSettings& settings)
{
    OrderIndices indices;
    indices.jobs.reserve(jobs.size());
    for (const WaitingJobView& job : jobs)
        indices.jobs.push_back(weigh(job, unit_types, settings, indices.lists));
    const auto gangs = complete_gangs(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i].gang.empty() && !gangs.contains(jobs[i].gang)) indices.jobs[i].weight = kNever;
    }
    for (const auto& [name, members] : gangs)
        align_gang(members, indices.jobs);
    return indices;
}

} // namespace fathom
