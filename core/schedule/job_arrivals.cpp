#include "core/schedule/job_arrivals.hpp"

#include "core/decide/queue/shadow_price.hpp"
#include "core/schedule/wanted_places.hpp"

#include <string_view>
#include <unordered_set>

namespace fathom {

std::vector<JobArrival::Place> arrival_places(const RouteRequest& request, const Decision& decision)
{
    std::vector<JobArrival::Place> places;
    if (!decision.winner) return places;
    for (const JobOption& option : options_of(request.prefer, offers_of(decision))) {
        if (option.run_s > 0)
            places.push_back(
                {decision.candidates[option.unit_type].unit_type_id.value, option.unit_count, option.run_s});
    }
    return places;
}

std::vector<std::optional<double>> shadow_prices_of(std::span<const JobOptions> arrived,
                                                    std::span<const UnitTypeLoad> unit_types)
{
    std::vector<std::optional<double>> shadow_prices;
    for (const UnitShadowPrice& one : find_shadow_prices(arrived, 1, unit_types))
        shadow_prices.push_back(one.load > 0 ? std::optional(one.shadow_price) : std::nullopt);
    return shadow_prices;
}

std::unordered_map<std::string, double> arrival_shadow_prices(std::span<const JobArrival> arrivals,
                                                              std::span<const UnitTypeView> unit_types)
{
    if (arrivals.size() < kMinArrivals) return {};
    std::unordered_set<std::string_view> wanted;
    for (const JobArrival& job : arrivals) {
        for (const JobArrival::Place& place : job.places)
            wanted.insert(place.unit_type_id);
    }
    // Large networks have many unit types that none of these jobs can use. What is closed just now counts: it is left
    // out of the places of the jobs that come meanwhile.
    std::unordered_map<std::string_view, std::size_t> index;
    std::vector<UnitTypeLoad> loads;
    for (const UnitTypeView& view : unit_types) {
        if (!wanted.contains(view.id.value)) continue;
        index.emplace(view.id.value, loads.size());
        loads.emplace_back().unit_count = view.unit_count;
    }
    std::vector<JobOptions> arrived;
    arrived.reserve(arrivals.size());
    for (const JobArrival& job : arrivals) {
        std::vector<JobOption> options;
        for (const JobArrival::Place& place : job.places) {
            const auto found = index.find(place.unit_type_id);
            if (found != index.end()) options.push_back({found->second, place.unit_count, place.run_s, 1});
        }
        arrived.emplace_back(std::move(options));
    }
    const std::vector<std::optional<double>> taken = shadow_prices_of(arrived, loads);
    std::unordered_map<std::string, double> shadow_prices;
    for (const auto& [id, type] : index) {
        if (taken[type]) shadow_prices.emplace(id, *taken[type]);
    }
    return shadow_prices;
}

} // namespace fathom
