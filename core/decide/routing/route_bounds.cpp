#include "core/decide/routing/route_table.hpp"

#include <algorithm>

// What no choice on a unit type can beat, by run times and starts alone: a new kind of job has such a bound of most
// unit types, and looks closely at few.
namespace fathom {
namespace {

bool weighs_several(const Preference& preference)
{
    return preference.time != 1 && preference.cost != 1 && preference.energy != 1;
}

} // namespace

const RouteTable::Impl::Least& RouteTable::Impl::least_of(std::size_t unit_type)
{
    if (least_.empty()) least_.resize(unit_types->size());
    Least& least = least_[unit_type];
    if (least.is_known) return least;
    const WaitHistory& waits = waits_of(knowledge);
    // Where nothing is known of any unit type, all have one answer, whatever their names: views are not read.
    const bool is_same_for_all = waits.by_unit_type().empty();
    const std::string_view id = is_same_for_all ? std::string_view() : unit_types->given(unit_type).id.value;
    least = {.is_known = true, .free_s = first_free_s(unit_type)};
    least.start = waits.least_wait(id, least.free_s, columns->facts(unit_type).queued_s);
    return least;
}

double RouteTable::Impl::first_free_s(std::size_t unit_type) const
{
    const std::optional<std::int64_t> taken = unit_types->most_taken(unit_type);
    if (taken && columns->idle_units(unit_type) > *taken) return 0;
    return (*unit_types)[unit_type].availability.earliest_start(1, kMinHeld_s);
}

bool RouteTable::Impl::is_free_at_last(const UnitRequest& units, std::size_t unit_type) const
{
    const std::int64_t least = columns->facts(unit_type).least_count_for(units);
    const std::optional<std::int64_t> taken = unit_types->most_taken(unit_type);
    const std::int64_t idle = columns->idle_units(unit_type);
    if (taken && !units.is_exclusive() && idle > 0 && idle - *taken >= least) return true;
    const UnitTypeView& view = (*unit_types)[unit_type];
    return view.holds.empty() && view.open_units(units).steps().back().free >= least;
}

RouteTable::Impl::LeastRun RouteTable::Impl::least_run(const RouteRequest& request, const RouteKind& kind,
                                                       std::size_t unit_type)
{
    const auto fewest = static_cast<double>(request.units.count.value_or(request.units.min));
    const bool is_divided = request.units.count != 1 || columns->facts(unit_type).least_count_for(request.units) > 1;
    if (kind.known != nullptr) return least_known_run(*kind.known, unit_type, is_divided, fewest);
    LeastRun least;
    least.run_s = columns->start_up_s(unit_type);
    least.unit_s = least.run_s * fewest;
    for (std::size_t i = 0; i < request.operators.size(); ++i) {
        const OperatorColumn& column = *kind.operators[i];
        const OperatorTime& time = column.times[unit_type];
        const auto executions = static_cast<double>(request.operators[i].count);
        least.run_s += executions * (is_divided ? column.least_s[unit_type] : time.execution_s);
        least.unit_s += executions * (is_divided ? column.least_unit_s[unit_type] : time.execution_s);
        least.unknown += time.basis == PredictionBasis::kUnknown ? 1 : 0;
        least.is_estimated = least.is_estimated || time.basis == PredictionBasis::kEstimated;
    }
    return least;
}

RouteTable::Impl::LeastRun RouteTable::Impl::least_known_run(const KnownRunColumn& known, std::size_t unit_type,
                                                             bool is_divided, double fewest)
{
    LeastRun least;
    double rest_s = known.times[unit_type].run_s;
    for (std::size_t i = 0; i < known.operators.size(); ++i) {
        const double part_s = known.part(unit_type, i);
        const OperatorSpeedup* const curve = known.operators[i]->times[unit_type].curve;
        least.run_s += part_s * (is_divided && curve != nullptr ? 1 - curve->most_saved() : 1);
        least.unit_s += part_s / (is_divided && curve != nullptr ? curve->best_efficiency() : 1);
        rest_s -= part_s;
    }
    // Sums of rounded parts may miss zero by a rounding.
    least.run_s += std::max(rest_s, 0.0);
    least.unit_s += std::max(rest_s, 0.0) * (is_divided ? fewest : 1);
    least.is_estimated = known.estimated[unit_type] > 0;
    return least;
}

void RouteTable::Impl::BoundRoom::resize(std::size_t size)
{
    if (run_s.size() == size) return;
    for (std::vector<double>* column :
         {&run_s, &unit_s, &moved_bytes, &start_s, &wait_s, &delay_s, &completion_s, &held_unit_s, &objectives})
        column->resize(size);
    for (std::size_t hour = 0; hour < PriceHours::kHours; ++hour) {
        cost_per_s[hour].resize(size);
        later_s[hour].resize(size);
    }
    unknown.resize(size);
    is_estimated.resize(size);
    outcomes.resize(size);
}

void RouteTable::Impl::sum_runs(const RouteRequest& request, const RouteKind& kind, Range range)
{
    // A job on one unit that shares no device may get several, where units have devices together.
    const bool is_alike = kind.known == nullptr && (request.units.count != 1 || !request.units.is_exclusive());
    const auto fewest = static_cast<double>(request.units.count.value_or(request.units.min));
    for (std::size_t i = range.first; i < range.last; ++i) {
        LeastRun run;
        if (is_alike)
            run.run_s = columns->start_up_s(i);
        else
            run = least_run(request, kind, i);
        bounds_.run_s[i] = run.run_s;
        bounds_.unit_s[i] = is_alike ? run.run_s * fewest : run.unit_s;
        bounds_.unknown[i] = static_cast<std::uint16_t>(run.unknown);
        bounds_.is_estimated[i] = run.is_estimated ? 1 : 0;
    }
    if (!is_alike) return;
    const bool is_divided = request.units.count != 1;
    double* const run_s = bounds_.run_s.data();
    double* const unit_s = bounds_.unit_s.data();
    std::uint16_t* const unknown = bounds_.unknown.data();
    std::uint8_t* const is_estimated = bounds_.is_estimated.data();
    for (std::size_t number = 0; number < request.operators.size(); ++number) {
        const OperatorColumn& column = *kind.operators[number];
        const auto executions = static_cast<double>(request.operators[number].count);
        const double* const least_s = column.least_s.data();
        const double* const least_unit_s = column.least_unit_s.data();
        const OperatorTime* const times = column.times.data();
        for (std::size_t i = range.first; is_divided && i < range.last; ++i) {
            run_s[i] += executions * least_s[i];
            unit_s[i] += executions * least_unit_s[i];
        }
        for (std::size_t i = range.first; !is_divided && i < range.last; ++i) {
            run_s[i] += executions * times[i].execution_s;
            unit_s[i] += executions * times[i].execution_s;
        }
        const std::uint8_t* const column_unknown = column.is_unknown.data();
        const std::uint8_t* const column_estimated = column.is_estimated.data();
        for (std::size_t i = range.first; i < range.last; ++i) {
            unknown[i] = static_cast<std::uint16_t>(unknown[i] + column_unknown[i]);
            is_estimated[i] = static_cast<std::uint8_t>(is_estimated[i] | column_estimated[i]);
        }
    }
}

bool RouteTable::Impl::has_bound(const RouteKind& kind, std::size_t unit_type)
{
    // What is never free may be so for good: then a filter removes it.
    return kind.own_filter[unit_type] == RouteKind::kStays && !kind.has_runs_at(unit_type) &&
           least_of(unit_type).free_s != Availability::kForEver;
}

void RouteTable::Impl::set_starts(RouteKind& kind, Range range)
{
    for (std::size_t i = range.first; i < range.last; ++i) {
        Least least;
        if (has_bound(kind, i)) least = least_of(i);
        kind.start_s[i] = least.free_s;
        bounds_.start_s[i] = std::min(least.free_s, least.start.wait_s);
        bounds_.wait_s[i] = least.start.wait_s;
        bounds_.delay_s[i] = 0;
    }
}

/// Centers that keep inputs fetch less than the others.
void RouteTable::Impl::set_moved_bytes(const RouteRequest& request, Range range)
{
    const double out_bytes = request.transfer.out_bytes;
    const auto first = bounds_.moved_bytes.begin();
    std::fill(first + static_cast<std::ptrdiff_t>(range.first), first + static_cast<std::ptrdiff_t>(range.last),
              request.transfer.in_bytes + out_bytes);
    if (request.kept_in_bytes.empty()) return;
    for (std::size_t i = range.first; i < range.last; ++i)
        bounds_.moved_bytes[i] = request.in_bytes_at(unit_types->given(i).center_id) + out_bytes;
}

/// Plain loops over columns, from starts and runs.
void RouteTable::Impl::set_outcomes(const RouteRequest& request, const RouteKind& kind, Range range)
{
    const FactColumns& facts = columns->fact_columns();
    const double factor = kind.least_factor;
    const auto fewest = static_cast<double>(request.units.count.value_or(request.units.min));
    const double* const run_s = bounds_.run_s.data();
    const double* const unit_s = bounds_.unit_s.data();
    const double* const moved_bytes = bounds_.moved_bytes.data();
    const double* const start_s = bounds_.start_s.data();
    const double* const delay_s = bounds_.delay_s.data();
    const double* const s_per_byte = facts.least_s_per_byte.data();
    const double* const trust_factor = facts.trust_factor.data();
    const double* const power_w = facts.power_w.data();
    double* const completion_s = bounds_.completion_s.data();
    double* const held_unit_s = bounds_.held_unit_s.data();
    double* const energy_j = bounds_.outcomes.energy_j.data();
    for (std::size_t i = range.first; i < range.last; ++i) {
        const double moved_s = moved_bytes[i] * s_per_byte[i];
        const double compute_s = run_s[i] * factor;
        const double trust_penalty_s = std::max(0.0, run_s[i] / trust_factor[i] - std::max(run_s[i], compute_s));
        completion_s[i] = start_s[i] + moved_s + delay_s[i] + compute_s + trust_penalty_s;
        held_unit_s[i] = unit_s[i] * factor + moved_s * fewest;
        energy_j[i] = power_w[i] * held_unit_s[i];
    }
}

/// What limits are compared with: without neighbours, so that what is removed does not depend on where these were
/// counted.
void RouteTable::Impl::set_limited(RouteKind& kind, double fewest, Range range)
{
    if (kind.cost.empty()) return;
    const FactColumns& facts = columns->fact_columns();
    const double factor = kind.least_factor;
    const double* const run_s = bounds_.run_s.data();
    const double* const unit_s = bounds_.unit_s.data();
    const double* const moved_bytes = bounds_.moved_bytes.data();
    const double* const s_per_byte = facts.least_s_per_byte.data();
    const double* const cost_per_s = facts.least_cost_per_s.data();
    for (std::size_t i = range.first; i < range.last; ++i) {
        const double moved_s = moved_bytes[i] * s_per_byte[i];
        kind.completion_s[i] = kBoundFactor * (bounds_.wait_s[i] + moved_s + run_s[i] * factor);
        kind.cost[i] = kBoundFactor * cost_per_s[i] * (unit_s[i] * factor + moved_s * fewest);
    }
}

void RouteTable::Impl::begin_bounds(const RouteRequest& request, RouteKind& kind, Range range)
{
    bounds_.resize(unit_types->size());
    sum_runs(request, kind, range);
    set_moved_bytes(request, range);
    set_starts(kind, range);
    const int for_power = request.prefer.energy > 0 ? 1 : 0;
    const double* const power_w = columns->fact_columns().power_w.data();
    const std::uint8_t* const has_network = columns->fact_columns().has_network.data();
    const double* const moved_bytes = bounds_.moved_bytes.data();
    const std::uint16_t* const unknown = bounds_.unknown.data();
    std::uint8_t* const unknown_parts = kind.unknown_parts.data();
    for (std::size_t i = range.first; i < range.last; ++i) {
        const int parts =
            unknown[i] + (power_w[i] <= 0 ? for_power : 0) + (has_network[i] == 0 && moved_bytes[i] > 0 ? 1 : 0);
        unknown_parts[i] = static_cast<std::uint8_t>(std::min(parts, 255));
    }
    const auto first = static_cast<std::ptrdiff_t>(range.first);
    const auto last = static_cast<std::ptrdiff_t>(range.last);
    std::copy(bounds_.is_estimated.begin() + first, bounds_.is_estimated.begin() + last,
              kind.is_estimated.begin() + first);
    const std::int64_t fewest = request.units.count.value_or(request.units.min);
    std::fill(kind.unit_count.begin() + first, kind.unit_count.begin() + last,
              static_cast<std::int32_t>(std::min<std::int64_t>(fewest, std::int64_t{1} << 30)));
}

RouteTable::Impl::CountRange RouteTable::Impl::counts_of(const RouteRequest& request, RouteKind& kind,
                                                         std::size_t unit_type, const PlaceRun& known,
                                                         const DividedRun& run) const
{
    const UnitRequest& units = request.units;
    const UnitTypeFacts& facts = columns->facts(unit_type);
    if (units.count) return {facts.least_count_for(units), facts.least_count_for(units)};
    std::int64_t most = known.knee > 0 ? known.knee : run.knee(facts.unit_count);
    kind.knee[unit_type] = static_cast<std::int32_t>(std::min<std::int64_t>(most, std::int64_t{1} << 30));
    if (units.ignore_knee) most = std::max(most, run.largest_known());
    return {units.min, std::max(units.min, std::min({units.max, facts.unit_count, most}))};
}

/// Then counts of units, which only make the run shorter, say little more of a place.
bool RouteTable::Impl::transfers_prevail(const RouteKind& kind, std::size_t unit_type) const
{
    const double moved_s = bounds_.moved_bytes[unit_type] * columns->facts(unit_type).least_s_per_byte;
    return moved_s + bounds_.delay_s[unit_type] > bounds_.run_s[unit_type] * kind.least_factor;
}

double RouteTable::Impl::least_by_count(const RouteRequest& request, RouteKind& kind, std::size_t unit_type,
                                        const LeastSlowdown& slowdown)
{
    const UnitTypeFacts& facts = columns->facts(unit_type);
    if (request.units.is_exclusive()) return 0; // whole devices, whose counts are others
    const PlaceRun known = run_of(request, kind, unit_type);
    const DividedRun run(known.single, known.parts);
    const CountRange counts = counts_of(request, kind, unit_type, known, run);
    if (!counts.is_small()) return 0;
    const double factor = kind.least_factor;
    const double moved_s = bounds_.moved_bytes[unit_type] * facts.least_s_per_byte;
    const double start_s = bounds_.start_s[unit_type] + moved_s + bounds_.delay_s[unit_type];
    const double single_s = known.single.run_s;
    // Who starts later may have a better hour of the network, and a cheaper one.
    const UnitTypeView& view = unit_types->given(unit_type);
    const Timestamp now = request.transfer.now;
    const double latest_s = latest_start_s(request, unit_type, counts.last);
    const bool is_at_once = latest_s == 0;
    double held_beside_s = moved_s;
    if (is_at_once && view.network != nullptr)
        held_beside_s = least_transfer_s(now, unit_type, request.in_bytes_at(view.center_id)) +
                        request.transfer.out_bytes * facts.least_s_per_byte;
    const auto least_cost = [&](double held_s, std::int64_t count) {
        if (view.price == nullptr) return 0.0;
        if (is_at_once) return view.price->cost(now, held_s, count);
        if (latest_s == Availability::kForEver) return view.price->least_cost(held_s, count);
        return view.price->least_cost_between(moment_after(now, least_of(unit_type).free_s),
                                              moment_after(now, latest_s), held_s, count);
    };
    double least = Availability::kForEver;
    for (std::int64_t count = counts.first; count <= counts.last; ++count) {
        const double alone_s = run.run_s(count);
        // As count_neighbours() has it.
        const double run_s = std::max(alone_s, std::min(alone_s * slowdown.of_run, single_s));
        const double held_s =
            kBoundFactor *
            (factor * std::max(alone_s, std::min(alone_s * slowdown.of_units, single_s)) + held_beside_s);
        const double compute_s = std::min(judged_compute_s(run_s, factor, facts.trust_factor),
                                          judged_compute_s(alone_s, factor, facts.trust_factor) + slowdown.most_s);
        const double energy_j = facts.power_w * held_s * static_cast<double>(count);
        least = std::min(least, objective(request.prefer, {start_s + compute_s, least_cost(held_s, count), energy_j}));
    }
    return kBoundFactor * least;
}

void RouteTable::Impl::estimate_roughly(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                                        std::size_t unit_type, Neighbours neighbours)
{
    if (least_of(unit_type).free_s == Availability::kForEver) {
        update(request, chooser, kind, unit_type);
        return;
    }
    const Range range{unit_type, unit_type + 1};
    begin_bounds(request, kind, range);
    if (!chooser.may_wait()) bounds_.delay_s[unit_type] = least_delay_s(request, unit_type);
    set_limited(kind, static_cast<double>(request.units.count.value_or(request.units.min)), range);
    const bool is_counted = neighbours == Neighbours::kCounted;
    LeastSlowdown slowdown;
    if (is_counted && kind.has_loads) slowdown = count_neighbours(request, kind, unit_type);
    set_outcomes(request, kind, range);
    kind.filter[unit_type] = RouteKind::kStays;
    if (is_counted)
        kind.is_rough[unit_type] = kind.is_exact ? RouteKind::kRough : RouteKind::kSharp;
    else
        kind.is_rough[unit_type] =
            kind.is_exact && (kind.has_loads || kind.cost.empty()) ? RouteKind::kQuick : RouteKind::kRough;
    set_hours(request, kind, range);
    kind.objective[unit_type] = kBoundFactor * least_of_hours(request.prefer, unit_type);
    // Of a kind with limits the columns of all that were looked at closely tell what these remove: as many as ever.
    const bool tells_more = request.prefer.cost > 0 || !transfers_prevail(kind, unit_type);
    const bool is_by_count = is_counted && kind.is_exact && kind.cost.empty() && tells_more;
    if (is_by_count && is_free_at_last(request.units, unit_type))
        kind.objective[unit_type] =
            std::max(kind.objective[unit_type], least_by_count(request, kind, unit_type, slowdown));
}

void RouteTable::Impl::estimate_all(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind)
{
    const Range all{0, unit_types->size()};
    begin_bounds(request, kind, all);
    // Networks hour by hour and powers take most of the time; a kind that is not exact moves its data when it likes.
    const bool has_delay = request.transfer.in_bytes > 0 && !chooser.may_wait();
    const bool is_quick = weighs_several(request.prefer) || (kind.is_exact && (has_delay || kind.has_loads));
    if (has_delay) set_delays(request, kind);
    set_outcomes(request, kind, all);
    set_limited(kind, static_cast<double>(request.units.count.value_or(request.units.min)), all);
    set_hours(request, kind, all);
    set_least_of_hours(request.prefer, is_quick, kind.objective);
    for (double& bound : kind.objective)
        bound *= kBoundFactor;
    if (is_quick || (kind.is_exact && kind.cost.empty()))
        std::fill(kind.is_rough.begin(), kind.is_rough.end(), RouteKind::kQuick);
    for (std::size_t i = 0; i < all.last; ++i) {
        if (has_bound(kind, i)) continue;
        kind.unknown_parts[i] = kind.is_estimated[i] = 0;
        kind.unit_count[i] = 0;
        if (!kind.cost.empty()) kind.completion_s[i] = kind.cost[i] = 0;
        update(request, chooser, kind, i);
    }
}

} // namespace fathom
