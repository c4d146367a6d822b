#include "core/decide/routing/route_table.hpp"

#include <algorithm>

// What bounds have of the hour in which a job starts: networks hour by hour, and prices. The cheapest hour of the week
// and the best one of a network say little of a job that starts now.
namespace fathom {
namespace {

/// By which a Timestamp may be earlier than the seconds that it was made of.
constexpr double kTick_s = 1e-6;

} // namespace

bool RouteTable::Impl::starts_at_once(const UnitRequest& units, std::size_t unit_type, std::int64_t count) const
{
    if (units.is_exclusive() || units.gpu_memory.all_bytes() > 0) return false;
    const std::optional<std::int64_t> taken = unit_types->most_taken_ever(unit_type);
    if (taken) {
        const std::int64_t idle = columns->idle_units(unit_type);
        return idle - *taken >= count || (*taken == 0 && idle == columns->facts(unit_type).unit_count);
    }
    const UnitTypeView& view = (*unit_types)[unit_type];
    const std::int64_t wanted = std::min(count, view.unit_count);
    const auto is_enough = [wanted](const Availability::Step& step) { return step.free >= wanted; };
    const std::vector<Availability::Step>& steps = view.availability.steps();
    return view.holds.empty() && std::all_of(steps.begin(), steps.end(), is_enough);
}

double RouteTable::Impl::latest_start_s(const RouteRequest& request, std::size_t unit_type, std::int64_t count) const
{
    const UnitRequest& units = request.units;
    if (starts_at_once(units, unit_type, count)) return 0;
    // Whoever gives something for time is bound by the time that a later start takes.
    const bool is_asked = request.prefer.time == 0 && !units.is_exclusive() && units.gpu_memory.all_bytes() == 0;
    if (!is_asked) return Availability::kForEver;
    const FreeAtLast free = free_at_last(unit_type);
    return free.units >= std::min(count, columns->facts(unit_type).unit_count) ? free.from_s : Availability::kForEver;
}

double RouteTable::Impl::least_delay_s(const RouteRequest& request, std::size_t unit_type)
{
    const UnitTypeView& view = unit_types->given(unit_type);
    const double in_bytes = request.in_bytes_at(view.center_id);
    if (!(in_bytes > 0) || view.network == nullptr || !is_free_at_last(request.units, unit_type)) return 0;
    const Least& least = least_of(unit_type);
    const double end_s = least.free_s > 0
                             ? view.network->least_end_s(moment_after(request.transfer.now, least.free_s), in_bytes)
                             : least_transfer_s(request.transfer.now, unit_type, in_bytes);
    return delay_beyond_s(least, end_s, in_bytes * columns->facts(unit_type).least_s_per_byte);
}

double RouteTable::Impl::least_transfer_s(Timestamp now, std::size_t unit_type, double bytes)
{
    const NetworkProfile& network = *unit_types->given(unit_type).network;
    return columns->network_hours(now).least_end_s(columns->center_rank()[unit_type], network, now, bytes);
}

double RouteTable::Impl::delay_beyond_s(const Least& least, double end_s, double best_s)
{
    // A later start may be in a better hour, but ends its transfer no earlier; and from `from_s` on waiting counts.
    const double free_of_charge_s = least.start.from_s - least.free_s;
    return least.start.growth * std::max(0.0, end_s - best_s - free_of_charge_s - kTick_s);
}

void RouteTable::Impl::set_delays(const RouteRequest& request, const RouteKind& kind)
{
    // Unit types of a center mostly share its network: few transfers are counted hour by hour, each from now on.
    struct KnownEnd {
        const NetworkProfile* network = nullptr;
        double end_s{};
    };
    std::vector<KnownEnd> ends(columns->center_count());
    for (std::size_t i = 0; i < unit_types->size(); ++i) {
        const UnitTypeView& view = unit_types->given(i);
        if (view.network == nullptr || !has_bound(kind, i) || !is_free_at_last(request.units, i)) continue;
        const double in_bytes = request.in_bytes_at(view.center_id);
        if (!(in_bytes > 0)) continue;
        const std::uint32_t center = columns->center_rank()[i];
        KnownEnd& known = ends[center];
        if (known.network != view.network.get())
            known = {view.network.get(), least_transfer_s(request.transfer.now, i, in_bytes)};
        const Least& least = least_of(i);
        bounds_.delay_s[i] =
            delay_beyond_s(least, known.end_s - least.free_s, in_bytes * columns->facts(i).least_s_per_byte);
    }
}

void RouteTable::Impl::set_hours(const RouteRequest& request, const RouteKind& kind, Range range)
{
    if (!(request.prefer.cost > 0)) return;
    constexpr double kHour_s = 3600;
    const Timestamp now = request.transfer.now;
    const PriceHours& prices = columns->price_hours(now, request.prefer.time == 0);
    const Timestamp next_hour = std::chrono::floor<std::chrono::hours>(now) + std::chrono::hours(1);
    const double hour_ends_s = Seconds(next_hour - now).count() - kTick_s;
    const auto first = static_cast<std::ptrdiff_t>(range.first);
    const auto last = static_cast<std::ptrdiff_t>(range.last);
    for (std::size_t hour = first_hour(request.prefer); hour < PriceHours::kHours; ++hour) {
        const std::vector<double>& per_s = prices.per_s(hour);
        std::copy(per_s.begin() + first, per_s.begin() + last, bounds_.cost_per_s[hour].begin() + first);
        std::fill(bounds_.later_s[hour].begin() + first, bounds_.later_s[hour].begin() + last, 0.0);
    }
    // Whoever waits for an hour of a network that has hours of its own may do so free of charge.
    const bool may_wait_freely = !kind.is_exact;
    const std::uint8_t* const has_own_hours = columns->fact_columns().has_own_hours.data();
    for (std::size_t i = range.first; request.prefer.time > 0 && i < range.last; ++i) {
        if ((may_wait_freely && has_own_hours[i] != 0 && bounds_.moved_bytes[i] > 0) || !has_bound(kind, i)) continue;
        const LeastWait& start = least_of(i).start;
        for (std::size_t hour = 1; hour < PriceHours::kHours; ++hour) {
            const double begins_s = hour_ends_s + static_cast<double>(hour - 1) * kHour_s;
            bounds_.later_s[hour][i] = start.growth * std::max(0.0, begins_s - start.from_s);
        }
    }
    if (!kind.is_exact || !kind.cost.empty()) return; // such a job may wait, or take other counts
    const std::int64_t most = request.units.count.value_or(std::max(request.units.min, request.units.max));
    for (std::size_t i = range.first; i < range.last; ++i) {
        const double latest_s = latest_start_s(request, i, most);
        if (!(latest_s < kHour_s * (PriceHours::kMaxLast - 1))) continue;
        const std::size_t number =
            latest_s < hour_ends_s ? 0 : static_cast<std::size_t>((latest_s - hour_ends_s) / kHour_s) + 1;
        const double per_s = prices.per_s_until(number, i);
        for (std::size_t hour = std::min(number + 1, PriceHours::kHours - 1); hour < PriceHours::kHours; ++hour)
            bounds_.cost_per_s[hour][i] = per_s;
    }
}

std::size_t RouteTable::Impl::first_hour(const Preference& prefer)
{
    // Without a cost all hours are alike; without a time the last one, with the least cost of all, says the least.
    return prefer.cost > 0 && prefer.time > 0 ? 0 : PriceHours::kHours - 1;
}

double RouteTable::Impl::least_of_hours(const Preference& prefer, std::size_t unit_type) const
{
    double least = Availability::kForEver;
    for (std::size_t hour = first_hour(prefer); hour < PriceHours::kHours; ++hour) {
        Outcome outcome{bounds_.completion_s[unit_type], 0, bounds_.outcomes.energy_j[unit_type]};
        if (prefer.cost > 0) {
            outcome.completion_s += bounds_.later_s[hour][unit_type];
            outcome.cost = bounds_.cost_per_s[hour][unit_type] * bounds_.held_unit_s[unit_type];
        }
        least = std::min(least, objective(prefer, outcome));
    }
    return least;
}

void RouteTable::Impl::set_least_of_hours(const Preference& prefer, bool is_quick, std::span<double> objectives)
{
    const auto set = is_quick ? set_objective_bounds : set_objectives;
    OutcomeColumns& outcomes = bounds_.outcomes;
    const std::size_t size = objectives.size();
    for (std::size_t hour = first_hour(prefer); hour < PriceHours::kHours; ++hour) {
        const bool is_first = hour == first_hour(prefer);
        const double* const completion_s = bounds_.completion_s.data();
        const double* const held_unit_s = bounds_.held_unit_s.data();
        const double* const later_s = bounds_.later_s[hour].data();
        const double* const cost_per_s = bounds_.cost_per_s[hour].data();
        const bool has_cost = prefer.cost > 0;
        for (std::size_t i = 0; i < size; ++i)
            outcomes.completion_s[i] = completion_s[i] + (has_cost ? later_s[i] : 0);
        for (std::size_t i = 0; has_cost && i < size; ++i)
            outcomes.cost[i] = cost_per_s[i] * held_unit_s[i];
        set(prefer, outcomes, is_first ? objectives : std::span<double>(bounds_.objectives));
        for (std::size_t i = 0; !is_first && i < size; ++i)
            objectives[i] = std::min(objectives[i], bounds_.objectives[i]);
    }
}

} // namespace fathom
