#include "core/schedule/wanted_places.hpp"

#include "core/decide/queue/shadow_price.hpp"
#include "core/schedule/decided_places.hpp"

#include <algorithm>
#include <utility>

namespace fathom {
namespace {

constexpr double kAssumedRunSeconds = 600;

std::optional<double> find(const std::unordered_map<std::string, double>& by_id, const UnitTypeView& view)
{
    const auto known = by_id.find(view.id.value);
    return known == by_id.end() ? std::nullopt : std::optional(known->second);
}

} // namespace

std::vector<PlaceOffers> offers_of(const Decision& decision)
{
    std::vector<PlaceOffers> places;
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
        const Candidate& one = decision.candidates[i];
        if (one.feasible || (is_set_aside(one) && !one.offers.empty())) places.push_back({i, one.offers});
    }
    return places;
}

double typical_run_s(std::span<const WaitingJobView> views)
{
    std::unordered_map<const void*, std::pair<const JobOptions*, std::size_t>> lists; // with how many jobs share each
    for (const WaitingJobView& view : views)
        ++lists.try_emplace(view.options.list(), &view.options, 0).first->second.second;
    std::vector<std::pair<double, std::size_t>> known;
    std::size_t count = 0;
    for (const auto& [list, shared] : lists) {
        for (const JobOption& option : *shared.first) {
            if (!(option.run_s > 0)) continue;
            known.emplace_back(option.run_s, shared.second);
            count += shared.second;
        }
    }
    if (known.empty()) return kAssumedRunSeconds;
    std::sort(known.begin(), known.end());
    std::size_t below = 0;
    const auto middle = std::find_if(known.begin(), known.end(), [&](const auto& one) {
        below += one.second;
        return below > count / 2;
    });
    return middle->first;
}

std::vector<double> shadow_prices_with(std::span<const std::optional<double>> known,
                                       std::span<const JobOptions> waiting, std::span<const UnitTypeLoad> unit_types)
{
    std::vector<UnitShadowPrice> own(known.size());
    const auto is_known = [](const std::optional<double>& shadow_price) { return shadow_price.has_value(); };
    if (!std::all_of(known.begin(), known.end(), is_known)) own = find_shadow_prices(waiting, 1, unit_types);
    std::vector<double> shadow_prices;
    shadow_prices.reserve(known.size());
    for (std::size_t i = 0; i < known.size(); ++i)
        shadow_prices.push_back(known[i].value_or(own[i].shadow_price));
    return shadow_prices;
}

UnitTypeLoad unit_type_load(const UnitTypeView& view)
{
    UnitTypeLoad load;
    load.unit_count = view.unit_count;
    load.free_units = std::max<std::int64_t>(0, view.availability.free_now());
    const auto& steps = view.availability.steps();
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i].free > steps[i - 1].free)
            load.releases.push_back({steps[i].from_s, steps[i].free - steps[i - 1].free});
        else if (steps[i].free <= 0)
            load.free_for_s = std::min(load.free_for_s, steps[i].from_s);
    }
    return load;
}

std::size_t WantedPlaces::number_of(std::size_t index)
{
    const auto [known, is_new] = numbers_.try_emplace(index, unit_types_.size());
    if (!is_new) return known->second;
    unit_types_.push_back(index);
    const UnitTypeView& view = unit_type(known->second);
    known_shadow_prices_.push_back(find(*known_by_id_, view));
    // Of use only where others have been weighed already: no job that waits wants it, as far as was known.
    shadow_prices_.push_back(known_shadow_prices_.back().value_or(1));
    loads_.push_back(load_of(view, {}));
    return known->second;
}

double WantedPlaces::load_of(const UnitTypeView& view, const WantedUnits& wanted) const
{
    return load_now(find(*busy_shares_, view).value_or(1), view.unit_count,
                    std::max<std::int64_t>(view.availability.free_now(), 0), wanted);
}

std::vector<JobOption> WantedPlaces::options_of(const RouteRequest& request, const OfferedPlaces& offered)
{
    std::vector<PlaceOffers> offers;
    offers.reserve(offered.places.size());
    for (const OfferedPlaces::Place& place : offered.places)
        offers.push_back({number_of(place.unit_type), place.offers});
    return fathom::options_of(request.prefer, offers);
}

void WantedPlaces::weigh(std::span<const WaitingJobView> views)
{
    std::vector<UnitTypeLoad> sizes;
    for (std::size_t i = 0; i < unit_types_.size(); ++i)
        sizes.emplace_back().unit_count = unit_type(i).unit_count;
    std::vector<JobOptions> wanted;
    wanted.reserve(views.size());
    std::vector<WantedUnits> wanted_units(unit_types_.size());
    OptionsAlone alone;
    for (const WaitingJobView& view : views) {
        if (view.options.empty()) continue;
        wanted.push_back(view.options);
        const JobOption& option = alone.of(view.options);
        wanted_units[option.unit_type].add(option);
    }
    shadow_prices_ = shadow_prices_with(known_shadow_prices_, wanted, sizes);
    for (std::size_t i = 0; i < unit_types_.size(); ++i)
        loads_[i] = load_of(unit_type(i), wanted_units[i]);
}

std::vector<UnitTypeLoad> WantedPlaces::loads() const
{
    std::vector<UnitTypeLoad> loads;
    loads.reserve(unit_types_.size());
    for (std::size_t i = 0; i < unit_types_.size(); ++i) {
        loads.push_back(unit_type_load(unit_type(i)));
        loads.back().shadow_price = shadow_prices_[i];
        loads.back().load = loads_[i];
    }
    return loads;
}

} // namespace fathom
