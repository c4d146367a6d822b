#include "server/routing/waiting_views.hpp"

#include "core/decide/route_reasons.hpp"
#include "core/decide/unit_worth.hpp"

#include <algorithm>
#include <limits>

namespace fathom::server {
namespace {

constexpr double kAssumedRunSeconds = 600;

} // namespace

std::vector<JobOption> options_of(const RouteRequest& request, const Decision& decision,
                                  const std::unordered_map<std::string, std::size_t>& index)
{
    // What is free now says nothing of what it costs: who cares for money or energy is sent only where it would go
    // alone.
    const bool is_about_time = request.prefer.cost == 0 && request.prefer.energy == 0;
    std::vector<JobOption> options;
    for (const Candidate& candidate : decision.candidates) {
        const auto found = index.find(candidate.unit_type_id.value);
        if (!candidate.feasible || found == index.end()) continue;
        const double best = decision.candidates.front().objective;
        if (is_about_time || candidate.objective <= best * (1 + kTieFraction))
            options.push_back({found->second, candidate.unit_count, candidate.prediction.run_s, 1});
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

std::vector<double> worths_for(std::span<const WaitingJobView> views, std::span<const UnitTypeView> unit_types)
{
    std::vector<std::vector<JobOption>> wanted;
    wanted.reserve(views.size());
    for (const WaitingJobView& view : views)
        wanted.push_back(view.options);
    std::vector<double> worths;
    worths.reserve(unit_types.size());
    for (const UnitWorth& one : unit_worths(wanted, 1, unit_type_loads(unit_types)))
        worths.push_back(one.worth);
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

} // namespace fathom::server
