#include "core/decide/order_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kPriorityPerDoubling = 20; ///< 100 points of priority weigh 32 times
constexpr double kLeastLoad = 1.0 / 64;     ///< a project that has had nothing yet does not come before everything

bool can_be_used(const JobOption& option, std::span<const UnitTypeLoad> unit_types)
{
    return option.unit_type < unit_types.size() && option.unit_count > 0 && option.run_s > 0 &&
           option.unit_count <= unit_types[option.unit_type].unit_count;
}

/// Work of the option in seconds of a unit of worth 1.
double worth_of(const JobOption& option, std::span<const UnitTypeLoad> unit_types)
{
    return unit_types[option.unit_type].worth * option.run_s * static_cast<double>(option.unit_count);
}

/// What the job itself weighs, whatever its place: below 1 goes before others.
double own_factor(const WaitingJobView& job, double shortest_s)
{
    double factor =
        std::max(job.fair_load, kLeastLoad) * std::exp2(-static_cast<double>(job.priority) / kPriorityPerDoubling);
    // With less time left than it would run, every wait may cost the deadline; one that is past is no reason to hurry.
    if (job.latest_start_s && *job.latest_start_s >= 0) factor *= std::min(1.0, *job.latest_start_s / shortest_s);
    return factor;
}

OrderIndex index_of(const WaitingJobView& job, std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    OrderIndex result;
    result.waited_s = job.waited_s;
    result.index.assign(job.options.size(), kNever);
    double shortest_s = kNever;
    double least_work = kNever;
    for (const JobOption& option : job.options) {
        if (!can_be_used(option, unit_types)) continue;
        shortest_s = std::min(shortest_s, option.run_s);
        least_work = std::min(least_work, worth_of(option, unit_types));
    }
    if (shortest_s == kNever) return result;
    result.is_overdue = settings.rule != OrderRule::kFirstCome && job.waited_s >= settings.patience_s &&
                        job.waited_s >= settings.patience_factor * shortest_s;
    const double own = own_factor(job, shortest_s);
    for (std::size_t i = 0; i < job.options.size(); ++i) {
        const JobOption& option = job.options[i];
        if (!can_be_used(option, unit_types)) continue;
        if (settings.rule == OrderRule::kFirstCome || settings.rule == OrderRule::kShortestFirst)
            result.index[i] = own * option.run_s * option.regret;
        else
            result.index[i] = own * option.regret * least_work *
                              std::pow(worth_of(option, unit_types) / least_work, settings.advantage_exponent);
    }
    return result;
}

/// A gang starts together, so all its members weigh alike: by the mean of their best places (Smith's rule for a group:
/// work per job that ends), each place still by how well it suits the member.
void align_gang(std::span<const std::size_t> members, std::vector<OrderIndex>& indices)
{
    double mean = 0;
    bool is_overdue = false;
    double waited_s = 0;
    for (const std::size_t member : members) {
        const OrderIndex& own = indices[member];
        const auto best = std::min_element(own.index.begin(), own.index.end());
        mean += (best == own.index.end() ? kNever : *best) / static_cast<double>(members.size());
        is_overdue = is_overdue || own.is_overdue;
        waited_s = std::max(waited_s, own.waited_s);
    }
    for (const std::size_t member : members) {
        OrderIndex& own = indices[member];
        own.is_overdue = is_overdue;
        own.waited_s = waited_s;
        if (mean == kNever) {
            std::fill(own.index.begin(), own.index.end(), kNever);
            continue;
        }
        const double best = *std::min_element(own.index.begin(), own.index.end());
        for (double& index : own.index)
            index *= best > 0 ? mean / best : 1;
    }
}

} // namespace

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

std::vector<OrderIndex> order_indices(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                                      const OrderSettings& settings)
{
    std::vector<OrderIndex> indices;
    indices.reserve(jobs.size());
    for (const WaitingJobView& job : jobs)
        indices.push_back(index_of(job, unit_types, settings));
    const auto gangs = complete_gangs(jobs);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i].gang.empty() && !gangs.contains(jobs[i].gang))
            std::fill(indices[i].index.begin(), indices[i].index.end(), kNever);
    }
    for (const auto& [name, members] : gangs)
        align_gang(members, indices);
    return indices;
}

} // namespace fathom
