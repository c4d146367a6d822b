#include "core/decide/routing/route_table.hpp"

#include <algorithm>

// What no choice on a unit type can beat, by run times and starts alone: a new kind of job has such a bound of most
// unit types, and looks closely at few.
namespace fathom {
namespace {

/// By which a Timestamp may be earlier than the seconds that it was made of.
constexpr double kTick_s = 1e-6;
/// By how much a bound is less, for what differs by a rounding only.
constexpr double kBoundFactor = 1 - 1e-9;

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

double RouteTable::Impl::least_delay_s(const RouteRequest& request, std::size_t unit_type)
{
    const UnitTypeView& view = unit_types->given(unit_type);
    if (!(request.transfer.in_bytes > 0) || view.network == nullptr || !is_free_at_last(request.units, unit_type))
        return 0;
    const Least& least = least_of(unit_type);
    const double best_s = request.transfer.in_bytes * columns->facts(unit_type).least_s_per_byte;
    const Timestamp first = moment_after(request.transfer.now, least.free_s);
    // A later start may be in a better hour, but ends its transfer no earlier; and from `from_s` on waiting counts.
    const double free_of_charge_s = least.start.from_s - least.free_s;
    const double beyond_s =
        view.network->least_end_s(first, request.transfer.in_bytes) - best_s - free_of_charge_s - kTick_s;
    return least.start.growth * std::max(0.0, beyond_s);
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

void RouteTable::Impl::sum_least_runs(const RouteRequest& request, const RouteKind& kind)
{
    const std::size_t size = unit_types->size();
    const auto fewest = static_cast<double>(request.units.count.value_or(request.units.min));
    const bool is_divided = request.units.count != 1;
    least_runs_.run_s.resize(size);
    least_runs_.unit_s.resize(size);
    least_runs_.unknown.assign(size, 0);
    least_runs_.is_estimated.assign(size, 0);
    double* const run_s = least_runs_.run_s.data();
    double* const unit_s = least_runs_.unit_s.data();
    std::uint16_t* const unknown = least_runs_.unknown.data();
    std::uint8_t* const is_estimated = least_runs_.is_estimated.data();
    for (std::size_t i = 0; i < size; ++i) {
        run_s[i] = columns->start_up_s(i);
        unit_s[i] = run_s[i] * fewest;
    }
    for (std::size_t number = 0; number < request.operators.size(); ++number) {
        const OperatorColumn& column = *kind.operators[number];
        const auto executions = static_cast<double>(request.operators[number].count);
        const double* const least_s = column.least_s.data();
        const double* const least_unit_s = column.least_unit_s.data();
        const OperatorTime* const times = column.times.data();
        const std::uint8_t* const column_unknown = column.is_unknown.data();
        const std::uint8_t* const column_estimated = column.is_estimated.data();
        for (std::size_t i = 0; is_divided && i < size; ++i) {
            run_s[i] += executions * least_s[i];
            unit_s[i] += executions * least_unit_s[i];
        }
        for (std::size_t i = 0; !is_divided && i < size; ++i) {
            run_s[i] += executions * times[i].execution_s;
            unit_s[i] += executions * times[i].execution_s;
        }
        for (std::size_t i = 0; i < size; ++i) {
            unknown[i] = static_cast<std::uint16_t>(unknown[i] + column_unknown[i]);
            is_estimated[i] = static_cast<std::uint8_t>(is_estimated[i] | column_estimated[i]);
        }
    }
}

Outcome RouteTable::Impl::least_outcome(const RouteRequest& request, RouteKind& kind, std::size_t unit_type,
                                        const LeastRun& run, double delay_s)
{
    const Least& least = least_of(unit_type);
    const std::int64_t fewest = request.units.count.value_or(request.units.min);
    std::int64_t unknown = run.unknown;
    const UnitTypeFacts& facts = columns->facts(unit_type);
    const TransferRequest& transfer = request.transfer;
    if (request.prefer.energy > 0 && facts.power_w <= 0) ++unknown;
    if (transfer.moves_data() && !facts.has_network) ++unknown;
    const double moved_s =
        transfer.moves_data() ? (transfer.in_bytes + transfer.out_bytes) * facts.least_s_per_byte : 0;
    const double compute_s = run.run_s * kind.least_factor;
    const double taken_unit_s = run.unit_s * kind.least_factor + moved_s * static_cast<double>(fewest);
    const double trust_penalty_s = std::max(0.0, run.run_s / facts.trust_factor - std::max(run.run_s, compute_s));
    const double judged_s =
        std::min(least.free_s, least.start.wait_s) + moved_s + delay_s + compute_s + trust_penalty_s;
    kind.unknown_parts[unit_type] = static_cast<std::uint8_t>(std::min<std::int64_t>(unknown, 255));
    kind.is_estimated[unit_type] = run.is_estimated ? 1 : 0;
    kind.start_s[unit_type] = least.free_s;
    kind.unit_count[unit_type] = static_cast<std::int32_t>(std::min<std::int64_t>(fewest, std::int64_t{1} << 30));
    kind.filter[unit_type] = RouteKind::kStays;
    if (!kind.cost.empty()) {
        kind.completion_s[unit_type] = kBoundFactor * (least.start.wait_s + moved_s + compute_s);
        kind.cost[unit_type] = kBoundFactor * facts.least_cost_per_s * taken_unit_s;
    }
    return {judged_s, facts.least_cost_per_s * taken_unit_s, facts.power_w * taken_unit_s};
}

void RouteTable::Impl::estimate_roughly(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind,
                                        std::size_t unit_type)
{
    const Least& least = least_of(unit_type);
    if (least.free_s == Availability::kForEver) { // perhaps for good: then a filter removes it
        update(request, chooser, kind, unit_type);
        return;
    }
    const double delay_s = kind.cost.empty() ? least_delay_s(request, unit_type) : 0;
    const LeastRun run = least_run(request, kind, unit_type);
    kind.is_rough[unit_type] = RouteKind::kRough;
    kind.objective[unit_type] =
        kBoundFactor * objective(request.prefer, least_outcome(request, kind, unit_type, run, delay_s));
}

void RouteTable::Impl::estimate_all(const RouteRequest& request, PlaceChooser& chooser, RouteKind& kind)
{
    const std::size_t size = unit_types->size();
    // A job on one unit that shares no device may get several, where units have devices together.
    const bool is_summed = kind.known == nullptr && (request.units.count != 1 || !request.units.is_exclusive());
    if (is_summed) sum_least_runs(request, kind);
    // Networks hour by hour and powers take most of the time. Of a kind that is not exact, bounds also say which places
    // are shown beside the winner.
    const bool has_delay = request.transfer.in_bytes > 0 && kind.cost.empty();
    const bool is_quick = kind.is_exact && (has_delay || weighs_several(request.prefer));
    outcomes_.resize(size);
    std::vector<std::uint32_t> others; // that have no bound
    for (std::size_t i = 0; i < size; ++i) {
        const bool is_bounded = kind.own_filter[i] == RouteKind::kStays && !kind.has_runs_at(i) &&
                                least_of(i).free_s != Availability::kForEver;
        Outcome outcome;
        if (is_bounded)
            outcome = least_outcome(request, kind, i, is_summed ? least_runs_.of(i) : least_run(request, kind, i),
                                    has_delay && !is_quick ? least_delay_s(request, i) : 0);
        else
            others.push_back(static_cast<std::uint32_t>(i));
        if (is_quick) kind.is_rough[i] = RouteKind::kQuick;
        outcomes_.completion_s[i] = outcome.completion_s;
        outcomes_.cost[i] = outcome.cost;
        outcomes_.energy_j[i] = outcome.energy_j;
    }
    (is_quick ? set_objective_bounds : set_objectives)(request.prefer, outcomes_, kind.objective);
    for (double& bound : kind.objective)
        bound *= kBoundFactor;
    for (const std::uint32_t unit_type : others)
        update(request, chooser, kind, unit_type);
}

} // namespace fathom
