#include "simulator/policies/project_loads.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace fathom::simulation {
namespace {

constexpr double kHalfLife_s = Seconds(kUseHalfLife).count();
constexpr std::size_t kPlacesPerTake = 100; ///< so many times as long as a look at a place takes a job's load
constexpr std::size_t kPlacesPerUse = 20;   ///< and what a project has of a unit type

} // namespace

ProjectLoads::ProjectLoads(const Scenario& scenario)
{
    loads_.assign(scenario.workload.projects.size(), 1);
    for (const UnitType& type : scenario.network.unit_types)
        unit_counts_.push_back(type.unit_count);
    units_.resize(loads_.size() * unit_counts_.size());
    used_unit_s_.resize(units_.size());
}

void ProjectLoads::note_start(const Job& job, std::size_t unit_type, std::int64_t units)
{
    if (matter()) units_[place(job, unit_type)] += units;
}

void ProjectLoads::note_end(const Job& job, std::size_t unit_type, std::int64_t units, double held_s, double now_s)
{
    if (!matter()) return;
    units_[place(job, unit_type)] -= units;
    // Noted as so much more at the time to which all has been decayed that it comes to this now.
    const double growth = portable::exp2((now_s - decayed_at_s_) / kHalfLife_s);
    used_unit_s_[place(job, unit_type)] += held_s * static_cast<double>(units) * growth;
}

std::size_t ProjectLoads::effort(std::size_t jobs) const
{
    return jobs * kPlacesPerTake + units_.size() * kPlacesPerUse;
}

std::vector<double> ProjectLoads::update(std::span<const Wanted> wanted, double now_s)
{
    const double decay = portable::exp2((decayed_at_s_ - now_s) / kHalfLife_s);
    decayed_at_s_ = now_s;
    for (double& unit_s : used_unit_s_)
        unit_s *= decay;
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(wanted[b].priority, a) < std::tie(wanted[a].priority, b);
    });
    std::vector<NumberedTake> takes;
    takes.reserve(order.size() + loads_.size());
    for (const std::size_t i : order)
        takes.push_back({wanted[i].project, wanted[i].unit_type, wanted[i].unit_count});
    // Who wants nothing more tells where it stands with all that it wants.
    for (std::size_t project = 0; project < loads_.size(); ++project)
        takes.push_back({project, 0, 0});
    const std::vector<double> in_order = progressive_loads({unit_counts_, units_, used_unit_s_}, takes);
    std::vector<double> result(wanted.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        result[order[i]] = in_order[i];
    loads_.assign(in_order.begin() + std::ssize(order), in_order.end());
    return result;
}

} // namespace fathom::simulation
