#include "core/decide/routing/filter_trace.hpp"

#include <algorithm>

namespace fathom {
namespace {

struct FilterWords {
    std::string_view name;
    std::string_view one;  ///< what one candidate does that it removes
    std::string_view many; ///< what several do
};

constexpr std::array<FilterWords, kFilterCount> kWords{{
    {"policy", "is kept out by what the job asks for or its project may use",
     "are kept out by what the job asks for or its project may use"},
    {"operators", "lacks an operator of the job", "lack an operator of the job"},
    {"device", "is another device or lacks instructions", "are another device or lack instructions"},
    {"memory", "has too little memory", "have too little memory"},
    {"unit_count", "has too few units", "have too few units"},
    {"software", "lacks modules or containers that the job needs", "lack modules or containers that the job needs"},
    {"data_site", "is not where the data may be", "are not where the data may be"},
    {"wall_limit", "lets no job run as long as this one may", "let no job run as long as this one may"},
    {"quota", "would take more than the project's quota", "would take more than the project's quota"},
    {"drain", "is drained", "are drained"},
    {"health", "is silent, lost or quarantined", "are silent, lost or quarantined"},
    {"deadline", "would end after the deadline", "would end after the deadline"},
    {"budget", "would cost more than the budget", "would cost more than the budget"},
    {"speedup", "is set aside by the GPU's speed-up", "are set aside by the GPU's speed-up"},
}};

const FilterWords& words_of(Filter filter)
{
    return kWords[static_cast<std::size_t>(filter)];
}

} // namespace

std::string_view to_string(Filter filter)
{
    return words_of(filter).name;
}

std::optional<Filter> parse_filter(std::string_view text)
{
    const auto found =
        std::find_if(kWords.begin(), kWords.end(), [&](const FilterWords& words) { return words.name == text; });
    if (found == kWords.end()) return std::nullopt;
    return static_cast<Filter>(found - kWords.begin());
}

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
        const FilterWords& words = words_of(step.filter);
        text +=
            separator + std::to_string(step.removed) + ' ' + std::string(step.removed == 1 ? words.one : words.many);
        separator = ", ";
    }
    return text + "; " + std::to_string(trace.left) + " left";
}

} // namespace fathom
