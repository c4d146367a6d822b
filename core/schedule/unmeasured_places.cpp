#include "core/schedule/unmeasured_places.hpp"

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

/// All that unmeasured_candidates() asks of a request.
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
    if (is_new) known->second = unmeasured_candidates(request, unit_types_, now_, period);
    return known->second;
}

} // namespace fathom
