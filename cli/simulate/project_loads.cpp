#include "cli/simulate/project_loads.hpp"

#include "core/base/portable_math.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace fathom::simulation {
namespace {

constexpr double kHalfLife_s = 7 * 86400.0;

} // namespace

ProjectLoads::ProjectLoads(const Scenario& scenario)
{
    // Names need not differ, and what they are does not matter.
    for (std::size_t project = 0; project < scenario.workload.projects.size(); ++project) {
        uses_.emplace_back();
        uses_.back().project = fmt::format("{:06}", project);
    }
    for (std::size_t type = 0; type < scenario.network.unit_types.size(); ++type)
        sizes_.push_back({fmt::format("{:06}", type), scenario.network.unit_types[type].unit_count});
}

void ProjectLoads::note_start(const Job& job, std::size_t unit_type, std::int64_t units)
{
    if (matter()) uses_[job.project].units[sizes_[unit_type].unit_type] += units;
}

void ProjectLoads::note_end(const Job& job, std::size_t unit_type, std::int64_t units, double held_s, double now_s)
{
    if (!matter()) return;
    ProjectUse& use = uses_[job.project];
    use.units[sizes_[unit_type].unit_type] -= units;
    // Noted as so much more at the time to which all has been decayed that it comes to this now.
    const double growth = portable::exp2((now_s - decayed_at_s_) / kHalfLife_s);
    use.used_unit_s[sizes_[unit_type].unit_type] += held_s * static_cast<double>(units) * growth;
}

std::vector<double> ProjectLoads::loads(std::span<const Wanted> wanted, double now_s)
{
    const double decay = portable::exp2((decayed_at_s_ - now_s) / kHalfLife_s);
    decayed_at_s_ = now_s;
    for (ProjectUse& use : uses_) {
        for (auto& [unit_type, unit_s] : use.used_unit_s)
            unit_s *= decay;
    }
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(wanted[b].priority, wanted[a].job) < std::tie(wanted[a].priority, wanted[b].job);
    });
    std::vector<PlannedTake> takes;
    takes.reserve(order.size());
    for (const std::size_t i : order)
        takes.push_back(
            {uses_[wanted[i].project].project, sizes_[wanted[i].unit_type].unit_type, wanted[i].unit_count});
    const std::vector<double> in_order = progressive_loads(uses_, sizes_, takes);
    std::vector<double> result(wanted.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        result[order[i]] = in_order[i];
    return result;
}

} // namespace fathom::simulation
