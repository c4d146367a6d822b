#include "core/schedule/unmeasured_places.hpp"

#include "core/decide/route_filter.hpp"

namespace fathom {
namespace {

void add_text(std::string& key, const std::string& text)
{
    key += std::to_string(text.size()) + ':' + text;
}

void add_texts(std::string& key, const std::vector<std::string>& texts)
{
    key += std::to_string(texts.size()) + '[';
    for (const std::string& text : texts)
        add_text(key, text);
}

/// All that the answer depends on.
std::string measuring_key(const RouteRequest& request, std::chrono::seconds period)
{
    std::string key;
    for (const OperatorDemand& demand : request.operators) {
        add_text(key, demand.operator_id);
        add_text(key, demand.parameters_key);
    }
    const UnitRequest& units = request.units;
    key += '/';
    for (const std::string* text : {&units.type, &units.device, &units.center})
        add_text(key, *text);
    for (const auto* texts : {&units.isa, &request.sites, &request.project_centers})
        add_texts(key, *texts);
    for (const std::int64_t number : {units.memory_bytes, units.count.value_or(units.min),
                                      std::int64_t{request.is_probe}, std::int64_t{period.count()}})
        key += std::to_string(number) + ';';
    return key;
}

} // namespace

const std::vector<std::size_t>& UnmeasuredPlaces::find(const RouteRequest& request, std::chrono::seconds period)
{
    const auto [known, is_new] = known_.try_emplace(measuring_key(request, period));
    if (is_new) known->second = list(request, period);
    return known->second;
}

std::vector<std::size_t> UnmeasuredPlaces::list(const RouteRequest& request, std::chrono::seconds period)
{
    std::vector<std::uint8_t> is_old(columns_->size(), 0);
    std::vector<std::uint8_t> runs_operators(columns_->size(), 1);
    for (const OperatorDemand& demand : request.operators) {
        const std::vector<Timestamp>& times = columns_->measured_at(demand.operator_id, demand.parameters_key);
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (times[i] < now_ - period) is_old[i] = 1;
        }
        const std::vector<std::uint8_t>& offers = columns_->offers(demand.operator_id);
        for (std::size_t i = 0; i < offers.size(); ++i) {
            if (offers[i] == 0) runs_operators[i] = 0;
        }
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < is_old.size(); ++i) {
        if (is_old[i] != 0 && !removing_filter(request, columns_->unit_types()[i], runs_operators[i] != 0))
            found.push_back(i);
    }
    return found;
}

} // namespace fathom
