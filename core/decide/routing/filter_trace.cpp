#include "core/decide/routing/filter_trace.hpp"

#include <algorithm>

namespace fathom {

void take_back(FilterTrace& trace, Filter filter, std::string_view center)
{
    const auto step = std::find_if(trace.steps.begin(), trace.steps.end(),
                                   [filter](const FilterStep& one) { return one.filter == filter; });
    if (step == trace.steps.end()) return;
    const auto place = std::find_if(step->centers.begin(), step->centers.end(),
                                    [center](const TracedCenter& one) { return one.center == center; });
    if (place == step->centers.end()) return;
    ++trace.left;
    if (--place->removed == 0) step->centers.erase(place);
    if (--step->removed == 0) trace.steps.erase(step);
}

Json to_json(const FilterTrace& trace)
{
    Json steps = Json::array();
    for (const FilterStep& step : trace.steps) {
        Json centers = Json::array();
        for (const TracedCenter& one : step.centers)
            centers.push_back({{"center", one.center}, {"removed", one.removed}, {"reason", one.reason}});
        steps.push_back(
            {{"filter", to_string(step.filter)}, {"removed", step.removed}, {"centers", std::move(centers)}});
    }
    return {{"candidates", trace.candidates}, {"left", trace.left}, {"steps", std::move(steps)}};
}

std::string describe(const FilterTrace& trace)
{
    std::string text = std::to_string(trace.candidates) + (trace.candidates == 1 ? " unit type" : " unit types");
    const char* separator = ": ";
    for (const FilterStep& step : trace.steps) {
        const FilterRule& words = rule_of(step.filter);
        text +=
            separator + std::to_string(step.removed) + ' ' + std::string(step.removed == 1 ? words.one : words.many);
        separator = ", ";
    }
    return text + "; " + std::to_string(trace.left) + " left";
}

} // namespace fathom
