#include "core/decide/capacity/least_objective.hpp"
#include "core/decide/routing/route_table.hpp"

#include <algorithm>

// What no start of a job with a deadline or budget can beat at one place, for bounds: those of all places take the
// cheapest hour for its cost and the first moment for its end, so that most would have to be looked at closely. Only
// where it is known without a closer look what limits cannot remove.
namespace fathom {
namespace {

/// By which a moment may be earlier than the seconds that it was made of.
constexpr double kMomentOff_s = 1e-6;

/// Up to here choices weigh each count of units; of more they leave some out (counts_between()).
constexpr std::int64_t kEachWeighed = 1000;

/// Of so many units for so long, at the dearest hour.
double most_cost(const UnitPrice& price, double held_s, std::int64_t unit_count)
{
    constexpr double kHourHeld_s = 3600;
    return price.most_per_hour() * held_s / kHourHeld_s * static_cast<double>(unit_count);
}

/// Of so many bytes at the worst hour; infinite where that is not known.
double most_transfer_s(const NetworkProfile* network, double bytes)
{
    return network != nullptr && bytes > 0 ? bytes / network->least_rate_bytes() : 0;
}

} // namespace

RouteTable::Impl::FreeAtLast RouteTable::Impl::free_at_last(std::size_t unit_type) const
{
    const std::optional<std::int64_t> taken = unit_types->most_taken(unit_type);
    const std::optional<double> release_s = unit_types->last_release_s(unit_type);
    const std::int64_t idle = columns->idle_units(unit_type);
    if (taken && release_s && idle > *taken) return {idle - *taken, *release_s};
    const UnitTypeView& view = (*unit_types)[unit_type];
    if (!view.holds.empty()) return {};
    const Availability::Step& last = view.availability.steps().back();
    return {last.free, last.from_s};
}

bool RouteTable::Impl::can_bound_starts(const RouteRequest& request, const RouteKind& kind, std::size_t unit_type)
{
    // Who gives nothing for time is bound by the cheapest hour already, whenever that is. Neighbours, and memory that
    // is missing, make runs longer and starts later than is known here.
    const bool knows_most = request.prefer.time > 0 && !kind.has_loads && request.gpu_shares.empty() &&
                            !request.minds_gpu_neighbours() && request.units.gpu_memory.all_bytes() == 0;
    return knows_most && !kind.is_exact && !request.units.is_exclusive() &&
           kind.is_rough[unit_type] == RouteKind::kRough && is_free_at_last(request.units, unit_type);
}

double RouteTable::Impl::least_by_start(const RouteRequest& request, std::size_t unit_type, const PlaceRuns& runs)
{
    const UnitTypeFacts& facts = columns->facts(unit_type);
    const UnitTypeView& view = unit_types->given(unit_type);
    const UnitPrice* const price = view.price.get();
    const Least& least = least_of(unit_type);
    const double moved_s = runs.moved_bytes * facts.least_s_per_byte;
    const double start_s = std::min(least.free_s, least.start.wait_s);
    DelayableRun one;
    one.earliest = moment_after(request.transfer.now, least.free_s);
    one.free_of_charge_s = std::max(least.start.from_s - least.free_s, 0.0) + kMomentOff_s;
    // Where a network has hours of its own, choices are bounded by the cheapest time as well.
    one.growth = starts_by_the_hour(view, runs.moved_bytes) ? least.start.growth : 0;
    double bound = Availability::kForEver;
    for (std::int64_t count = runs.counts.first; count <= runs.counts.last; ++count) {
        const double alone_s = runs.run->run_s(count);
        one.run_s = kBoundFactor * (alone_s * runs.factor + moved_s);
        one.unit_count = count;
        one.energy_j = facts.power_w * one.run_s * static_cast<double>(count);
        one.completion_s =
            kBoundFactor * (start_s + moved_s + judged_compute_s(alone_s, runs.factor, facts.trust_factor));
        bound = price == nullptr ? std::min(bound, kBoundFactor * objective(request.prefer, {one.completion_s, 0, 0}))
                                 : least_objective(request.prefer, *price, one, bound);
    }
    return bound;
}

RouteKind::MostLimited RouteTable::Impl::most_limited(const PlaceChooser& chooser, std::size_t unit_type,
                                                      const PlaceRuns& runs) const
{
    RouteKind::MostLimited most{static_cast<std::uint32_t>(unit_type), Availability::kForEver, Availability::kForEver};
    if (!runs.counts.is_small()) return most;
    const UnitTypeView& view = unit_types->given(unit_type);
    const FreeAtLast free = free_at_last(unit_type);
    const double wait_s =
        waits_of(knowledge).most_wait_s(view.id.value, free.from_s, columns->facts(unit_type).queued_s);
    const double moved_s = most_transfer_s(view.network.get(), runs.moved_bytes);
    // What is least of all counts is no more than of these two: mostly the cheapest, and the one that ends first. The
    // first is weighed in any case.
    const std::int64_t most_weighed = runs.counts.last <= kEachWeighed ? runs.counts.last : runs.counts.first;
    for (const std::int64_t count : {runs.counts.first, std::min(most_weighed, free.units)}) {
        if (count < runs.counts.first || count > free.units) continue;
        const double run_s = runs.run->run_s(count) * runs.factor / kBoundFactor;
        most.completion_s = std::min(most.completion_s, (wait_s + run_s + moved_s) / kBoundFactor);
        double cost = 0;
        if (view.price != nullptr && chooser.may_wait()) // then transfers are left out
            cost = view.price->least_cost(run_s, count);
        else if (view.price != nullptr)
            cost = most_cost(*view.price, run_s + moved_s, count);
        most.cost = std::min(most.cost, cost / kBoundFactor);
    }
    return most;
}

void RouteTable::Impl::bound_starts(const RouteRequest& request, const PlaceChooser& chooser, RouteKind& kind,
                                    std::size_t unit_type)
{
    const PlaceRun known = run_of(request, kind, unit_type);
    const DividedRun run(known.single, known.parts);
    const PlaceRuns runs{&run, counts_of(request, kind, unit_type, known, run),
                         chooser.correction_of(unit_types->given(unit_type), known, run).factor,
                         request.in_bytes_at(unit_types->given(unit_type).center_id) + request.transfer.out_bytes};
    kind.is_rough[unit_type] = RouteKind::kByStart;
    kind.by_start.push_back(most_limited(chooser, unit_type, runs));
    if (runs.counts.is_small())
        kind.objective[unit_type] = std::max(kind.objective[unit_type], least_by_start(request, unit_type, runs));
}

void RouteTable::Impl::refine_doubtful(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind)
{
    const double budget = budget_limit(request.budget);
    for (const RouteKind::MostLimited& most : kind.by_start) {
        const bool is_doubtful = most.completion_s > chooser.left_s() || most.cost > budget;
        if (is_doubtful && kind.is_by_start_at(most.unit_type)) refine(request, chooser, kind, most.unit_type);
    }
}

} // namespace fathom
