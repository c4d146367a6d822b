#include "core/decide/prediction/neighbours.hpp"
#include "core/decide/routing/host_load.hpp"
#include "core/decide/routing/route_table.hpp"

#include <algorithm>

// What neighbours cost a run at least, for bounds: where hosts are half full it is known of all places how much slower
// they are than alone, and without it most of them would have to be looked at closely. What the run costs them is left
// out: it is never less than nothing.
namespace fathom {
namespace {

/// Units are never fewer free later than earlier: then a run starts as soon as so many are free, however long it is.
bool only_become_free(const Availability& availability)
{
    const std::vector<Availability::Step>& steps = availability.steps();
    return std::is_sorted(steps.begin(), steps.end(),
                          [](const Availability::Step& a, const Availability::Step& b) { return a.free < b.free; });
}

std::int64_t least_free(const Availability& availability)
{
    const std::vector<Availability::Step>& steps = availability.steps();
    return std::min_element(steps.begin(), steps.end(),
                            [](const Availability::Step& a, const Availability::Step& b) { return a.free < b.free; })
        ->free;
}

/// Of `count` units, or cores, those that are taken on average over a time that is no longer, and begins between 0 and
/// `from_s`, at least: if no more were ever taken than had been at some time before.
double least_mean_taken(const Availability& availability, std::int64_t count, double from_s, double length_s)
{
    const std::vector<Availability::Step>& steps = availability.steps();
    const double until_s = from_s + length_s;
    std::int64_t taken = count;
    double unit_s = 0;
    for (std::size_t i = 0; i < steps.size() && steps[i].from_s < until_s; ++i) {
        const std::int64_t free = std::clamp<std::int64_t>(steps[i].free, 0, count);
        taken = std::min(taken, count - free);
        const double end_s = std::min(i + 1 < steps.size() ? steps[i + 1].from_s : Availability::kForEver, until_s);
        unit_s += std::max(end_s - std::max(steps[i].from_s, from_s), 0.0) * static_cast<double>(taken);
    }
    return unit_s / length_s;
}

} // namespace

RouteTable::Impl::LeastSlowdown RouteTable::Impl::least_slowdown(const RouteRequest& request, const RouteKind& kind,
                                                                 std::size_t unit_type, const PlaceRun& run,
                                                                 double delay_s)
{
    const UnitTypeView& view = (*unit_types)[unit_type];
    // Units that are held, and whole devices, are free at times of their own.
    if (view.cores_per_unit <= 0 || !view.holds.empty() || request.units.is_exclusive()) return {};
    if (!(run.single.run_s > 0) || !knows_neighbours(run.parts)) return {};
    const double length_s = std::max(run.single.run_s, kMinHeld_s);
    // Fewer held cores make fewer bubbles, whatever pressure their jobs make, so the least of them slows a run least.
    const auto factor_from = [&](double from_s) {
        HeldOfHost held{.units = least_mean_taken(view.availability, view.unit_count, from_s, length_s)};
        if (view.other_cores)
            held.other_cores = least_mean_taken(view.other_cores->free, view.other_cores->count, from_s, length_s);
        return least_neighbour_factor(run.single.run_s, run.parts, host_load(view, 0, held).held);
    };
    const UnitRequest& units = request.units;
    const std::int64_t most = units.count ? columns->facts(unit_type).least_count_for(units)
                                          : std::max(units.min, std::min(units.max, view.unit_count));
    const bool starts_at_once = least_free(view.availability) >= most && !view.lacks_gpu_memory(units.gpu_memory);
    if (starts_at_once) {
        const double factor = factor_from(0);
        return {.of_run = factor, .of_units = factor};
    }
    const Least& least = least_of(unit_type);
    const bool starts_when_free = only_become_free(view.availability) && is_free_at_last(units, unit_type);
    if (!starts_when_free || !(least.start.growth > 0)) return {};
    // Whoever starts later has fewer neighbours. Beyond so much he ends later for all that.
    const double saved = factor_from(least.free_s) - 1;
    const double free_of_charge_s = std::max(least.start.from_s - least.free_s, 0.0);
    const double saved_s = saved * least_compute_s(kind, unit_type);
    const double latest_s = least.free_s + free_of_charge_s + (delay_s + saved_s) / least.start.growth;
    return {.of_run = factor_from(latest_s), .of_units = 1, .most_s = saved_s};
}

/// Of the bound: with the trust penalty. Linear in the run.
double RouteTable::Impl::least_compute_s(const RouteKind& kind, std::size_t unit_type) const
{
    const double run_s = bounds_.run_s[unit_type];
    const double compute_s = run_s * kind.least_factor;
    const double trust_factor = columns->fact_columns().trust_factor[unit_type];
    return compute_s + std::max(0.0, run_s / trust_factor - std::max(run_s, compute_s));
}

RouteTable::Impl::LeastSlowdown RouteTable::Impl::count_neighbours(const RouteRequest& request, const RouteKind& kind,
                                                                   std::size_t unit_type)
{
    const PlaceRun run = run_of(request, kind, unit_type);
    const LeastSlowdown slowdown = least_slowdown(request, kind, unit_type, run, bounds_.delay_s[unit_type]);
    double& run_s = bounds_.run_s[unit_type];
    double& unit_s = bounds_.unit_s[unit_type];
    double most_run_s = run_s * slowdown.of_run;
    double most_unit_s = unit_s * slowdown.of_units;
    // On several units it may take longer than on one, and see more neighbours go: it is no shorter than on one then.
    const bool is_divided =
        request.units.count != 1 &&
        std::any_of(run.parts.begin(), run.parts.end(), [](const ScaledPart& part) { return part.curve != nullptr; });
    if (is_divided) {
        const auto fewest = static_cast<double>(request.units.count.value_or(request.units.min));
        most_run_s = std::min(most_run_s, run.single.run_s);
        most_unit_s = std::min(most_unit_s, run.single.run_s * fewest);
    }
    run_s = std::max(run_s, most_run_s);
    unit_s = std::max(unit_s, most_unit_s);
    return slowdown;
}

} // namespace fathom
