#include "core/schedule/waiting_views.hpp"

#include "core/decide/route_reasons.hpp"
#include "core/decide/unit_worth.hpp"

#include <algorithm>
#include <limits>

namespace fathom {
namespace {

constexpr double kAssumedRunSeconds = 600;

} // namespace

std::vector<const Candidate*> wanted_places(const RouteRequest& request, const Decision& decision)
{
    // What is free now says nothing of what it costs: who cares for money or energy is sent only where it would go
    // alone.
    const bool is_about_time = request.prefer.cost == 0 && request.prefer.energy == 0;
    std::vector<const Candidate*> places;
    for (const Candidate& candidate : decision.candidates) {
        if (!candidate.feasible) continue;
        const double best = decision.candidates.front().objective;
        if (is_about_time || candidate.objective <= best * (1 + kTieFraction)) places.push_back(&candidate);
    }
    return places;
}

std::vector<JobOption> options_of(const RouteRequest& request, const Decision& decision,
                                  const std::unordered_map<std::string, std::size_t>& index)
{
    std::vector<JobOption> options;
    for (const Candidate* place : wanted_places(request, decision)) {
        const auto found = index.find(place->unit_type_id.value);
        if (found != index.end()) options.push_back({found->second, place->unit_count, place->prediction.run_s, 1});
    }
    return options;
}

double shortest_run_s(std::span<const JobOption> options)
{
    double shortest = std::numeric_limits<double>::infinity();
    for (const JobOption& option : options)
        shortest = std::min(shortest, option.run_s);
    return shortest;
}

void assume_run_times(std::vector<WaitingJobView>& views)
{
    std::vector<double> known;
    for (const WaitingJobView& view : views) {
        for (const JobOption& option : view.options) {
            if (option.run_s > 0) known.push_back(option.run_s);
        }
    }
    double assumed = kAssumedRunSeconds;
    if (!known.empty()) {
        const auto middle = known.begin() + std::ssize(known) / 2;
        std::nth_element(known.begin(), middle, known.end());
        assumed = *middle;
    }
    for (WaitingJobView& view : views) {
        for (JobOption& option : view.options)
            option.run_s = option.run_s > 0 ? option.run_s : assumed;
    }
}

std::vector<double> worths_for(std::span<const WaitingJobView> views, std::span<const UnitTypeView> unit_types,
                               std::span<const std::optional<double>> known)
{
    std::vector<std::vector<JobOption>> wanted;
    wanted.reserve(views.size());
    bool are_all_known = true;
    for (const WaitingJobView& view : views) {
        for (const JobOption& option : view.options)
            are_all_known = are_all_known && known[option.unit_type].has_value();
        wanted.push_back(view.options);
    }
    std::vector<UnitWorth> waiting(unit_types.size());
    if (!are_all_known) waiting = unit_worths(wanted, 1, unit_type_loads(unit_types));
    std::vector<double> worths;
    worths.reserve(unit_types.size());
    for (std::size_t i = 0; i < unit_types.size(); ++i)
        worths.push_back(known[i].value_or(waiting[i].worth));
    return worths;
}

std::vector<UnitTypeLoad> unit_type_loads(std::span<const UnitTypeView> unit_types)
{
    std::vector<UnitTypeLoad> loads;
    loads.reserve(unit_types.size());
    for (const UnitTypeView& view : unit_types) {
        UnitTypeLoad load;
        load.unit_count = view.unit_count;
        load.free_units = std::max<std::int64_t>(0, view.availability.free_now());
        const auto& steps = view.availability.steps();
        for (std::size_t i = 1; i < steps.size(); ++i) {
            if (steps[i].free > steps[i - 1].free)
                load.releases.push_back({steps[i].from_s, steps[i].free - steps[i - 1].free});
        }
        loads.push_back(std::move(load));
    }
    return loads;
}

} // namespace fathom
