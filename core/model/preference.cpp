#include "core/model/preference.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/job.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

constexpr double kWeightTolerance = 1e-6;

struct NamedPreference {
    std::string_view name;
    Preference preference;
};
constexpr std::array<NamedPreference, 3> kPreferences{{
    {"fastest", {.time = 1, .cost = 0, .energy = 0}},
    {"cheapest", {.time = 0, .cost = 1, .energy = 0}},
    {"greenest", {.time = 0, .cost = 0, .energy = 1}},
}};

/// Its name, where it is one of those with a name.
std::optional<std::string_view> name_of(const Preference& preference)
{
    for (const auto& [name, named] : kPreferences) {
        if (named.time == preference.time && named.cost == preference.cost && named.energy == preference.energy)
            return name;
    }
    return std::nullopt;
}

/// "0.5"
std::string format_weight(double weight)
{
    return Json(weight).dump();
}

} // namespace

Preference parse_preference(const Json& json, std::vector<FieldError>& errors)
{
    if (json.is_string()) {
        for (const auto& [name, preference] : kPreferences) {
            if (json == name) return preference;
        }
    }
    if (!json.is_object()) {
        errors.push_back({"prefer", "must be \"fastest\", \"cheapest\" or \"greenest\", or weights that sum to 1, such "
                                    "as {\"time\": 0.7, \"cost\": 0.3}"});
        return {};
    }
    const std::size_t before = errors.size();
    ObjectReader reader(json, "prefer", errors);
    Preference weights;
    weights.time = reader.optional_number("time", 0, 1).value_or(0);
    weights.cost = reader.optional_number("cost", 0, 1).value_or(0);
    weights.energy = reader.optional_number("energy", 0, 1).value_or(0);
    reader.finish(UnknownFields::kReject);
    const double sum = weights.time + weights.cost + weights.energy;
    if (errors.size() == before && std::abs(sum - 1) > kWeightTolerance)
        errors.push_back({"prefer", "the weights of time, cost and energy must sum to 1, not " + format_weight(sum)});
    return weights;
}

Json to_json(const Preference& preference)
{
    if (const auto name = name_of(preference)) return *name;
    return {{"time", preference.time}, {"cost", preference.cost}, {"energy", preference.energy}};
}

std::string to_string(const Preference& preference)
{
    if (const auto name = name_of(preference)) return std::string(*name);
    std::string text;
    const auto add = [&](std::string_view name, double weight) {
        if (weight <= 0) return;
        if (!text.empty()) text += ", ";
        text += std::string(name) + " " + format_weight(weight);
    };
    add("time", preference.time);
    add("cost", preference.cost);
    add("energy", preference.energy);
    return text;
}

} // namespace fathom
