#pragma once

#include "core/decide/routing/place.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "core/decide/routing/route_reasons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace fathom::test {

/// A place that a plain loop found.
struct PlainPlace {
    std::size_t unit_type{};
    PlaceChoice choice;
};

/// Geometric mean of operations per second over what was measured; 0 when nothing was.
inline double measured_speed(const UnitTypeView& view)
{
    double sum = 0;
    for (const MeasuredOperator& one : view.measured)
        sum += std::log(one.operations / one.median_s);
    return view.measured.empty() ? 0 : std::exp(sum / static_cast<double>(view.measured.size()));
}

/// Where a job of which nothing is known goes.
inline std::optional<PlainPlace> earliest_place(const std::vector<PlainPlace>& places, const UnitTypeList& unit_types)
{
    const auto order = [&](const PlainPlace& place) {
        const UnitTypeView& view = unit_types[place.unit_type];
        return std::tuple(place.choice.wait_s, -measured_speed(view), view.id.value);
    };
    const auto first = std::min_element(places.begin(), places.end(),
                                        [&](const PlainPlace& a, const PlainPlace& b) { return order(a) < order(b); });
    if (first == places.end()) return std::nullopt;
    return *first;
}

/// Every place that can run the job, by looking at each unit type in turn.
inline std::vector<PlainPlace> plain_places(const RouteRequest& request, const UnitTypeList& unit_types,
                                            const RouteKnowledge& knowledge)
{
    PlaceChooser chooser(request, knowledge);
    std::vector<PlainPlace> places;
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        const UnitTypeView& view = unit_types[i];
        if (removing_filter(request, view)) continue;
        const RunPrediction single = predict_run({request.operators,
                                                  request.known_run.get(),
                                                  {view.measured, view.cores_per_unit, view.one_core},
                                                  {knowledge.estimates.get(), view.id.value}});
        std::vector<ScaledPart> parts;
        for (std::size_t o = 0; o < single.operators.size(); ++o) {
            const OperatorDemand& demand = request.parts()[o];
            const double work = demand.operations > 0 ? demand.operations : std::max(demand.bytes, 1.0);
            parts.push_back({single.operators[o].total_s,
                             find_speedup(view.speedups.get(), demand.operator_id, demand.parameters_key, work),
                             find_load(view.loads.get(), demand.operator_id)});
        }
        PlaceRun run{
            {single.run_s, single.low_s, single.high_s}, parts, single.unknown_operators, single.estimated_operators};
        run.basis = single.basis;
        PlainPlace place{i, chooser.choose(view, run, ChoiceAim::kBest)};
        if (!place.choice.removed_by) places.push_back(std::move(place));
    }
    return places;
}

/// The winner of a decision, found by looking at every unit type in turn, with nothing kept from one to the next: what
/// RouteTable must agree with, and what its speed is compared with. For jobs with operators, or without history. The
/// ranking is written here a second time, as docs/routing.md has it.
inline std::optional<PlainPlace> plain_route(const RouteRequest& request, const UnitTypeList& unit_types,
                                             const RouteKnowledge& knowledge = {})
{
    const std::vector<PlainPlace> places = plain_places(request, unit_types, knowledge);
    if (request.operators.empty() && !request.transfer.moves_data()) return earliest_place(places, unit_types);
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    double best = std::numeric_limits<double>::infinity();
    for (const PlainPlace& place : places)
        fewest = std::min(fewest, place.choice.unknown_parts);
    for (const PlainPlace& place : places) {
        if (place.choice.unknown_parts == fewest) best = std::min(best, place.choice.objective);
    }
    const PlainPlace* winner = nullptr;
    const auto order = [&](const PlainPlace& place) {
        const PlaceChoice& choice = place.choice;
        return std::tuple(choice.estimated_operators > 0, choice.unit_count, choice.plan.start_s,
                          unit_types[place.unit_type].id.value);
    };
    for (const PlainPlace& place : places) {
        const bool is_tie = place.choice.unknown_parts == fewest && place.choice.objective <= best * (1 + kTieFraction);
        if (is_tie && (winner == nullptr || order(place) < order(*winner))) winner = &place;
    }
    if (winner == nullptr) return std::nullopt;
    return *winner;
}

} // namespace fathom::test
