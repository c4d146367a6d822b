#include "core/decide/better_wait.hpp"

#include "core/decide/better_place.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace fathom {
namespace {

bool may_wait(std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    const bool weighs_places = settings.rule == OrderRule::kAdvantage || settings.rule == OrderRule::kMinCostAssignment;
    return weighs_places &&
           std::any_of(unit_types.begin(), unit_types.end(), [](const UnitTypeLoad& type) { return type.load < 1; });
}

/// The place of least cost among those that the job fits into now.
std::optional<std::size_t> best_free(const WaitingJobView& job, std::size_t index, const OrderIndex& own,
                                     const BetterPlaces& places, const FreeUnits& free)
{
    std::optional<std::size_t> best;
    for (std::size_t option = 0; option < job.options.size(); ++option) {
        if (!std::isfinite(own.index[option]) || !free.fits(job.options[option])) continue;
        if (!best || places.cost(index, option) < places.cost(index, *best)) best = option;
    }
    return best;
}

} // namespace

std::vector<BetterWait> find_better_waits(std::span<const WaitingJobView> jobs,
                                          std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    std::vector<BetterWait> waits;
    if (!may_wait(unit_types, settings)) return waits;
    const OrderIndices indices = order_indices(jobs, unit_types, settings);
    BetterPlaces places(jobs, indices.jobs, unit_types);
    const FreeUnits free(unit_types);
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        const OrderIndex& own = indices.jobs[job];
        if (!jobs[job].gang.empty() || own.is_overdue) continue;
        const std::optional<std::size_t> here = best_free(jobs[job], job, own, places, free);
        if (!here || !places.is_worth_waiting(job, *here)) continue;
        const BetterPlaces::Promise& there = places.promise(job);
        const double load = std::max(unit_types[jobs[job].options[there.option].unit_type].load, 0.0);
        const double gain_s = places.cost(job, *here) - places.cost(job, there.option);
        waits.push_back({job, there.option, there.wait_s, gain_s * std::sqrt(1 - load)});
    }
    return waits;
}

} // namespace fathom
