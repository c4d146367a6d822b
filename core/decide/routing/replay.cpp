#include "core/decide/routing/replay.hpp"

#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/decision_text.hpp"

#include <cmath>

namespace fathom {
namespace {

/// Libraries may differ in the last digits of a logarithm between machines; decisions do not hang on those.
constexpr double kSame = 1e-9;

bool is_same(double a, double b)
{
    return std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)});
}

std::string text_of(const Json& candidate, const char* name)
{
    return candidate.contains(name) && candidate[name].is_string() ? candidate[name].get<std::string>() : "?";
}

/// The stored winner; null: there was none, or it cannot be found.
Json stored_winner(const Json& decision)
{
    if (!decision.contains("winner") || !decision["winner"].is_number_unsigned()) return nullptr;
    const auto index = decision["winner"].get<std::size_t>();
    const Json candidates = decision.value("candidates", Json::array());
    if (!candidates.is_array() || index >= candidates.size() || !candidates[index].is_object()) return nullptr;
    return candidates[index];
}

void compare_numbers(const Json& stored, const Json& again, std::vector<std::string>& differences)
{
    for (const char* name : {"unit_count", "start_s", "completion_s", "energy_j", "objective"}) {
        // A decision of an older version does not have all of them.
        if (!stored.contains(name) || !stored[name].is_number()) continue;
        const bool has_same = again.contains(name) && again[name].is_number() &&
                              is_same(stored[name].get<double>(), again[name].get<double>());
        if (!has_same)
            differences.push_back(std::string(name) + ": " + stored[name].dump() + " was stored, " +
                                  (again.contains(name) ? again[name].dump() : "nothing") + " came out");
    }
    if (stored.contains("cost") && stored["cost"] != again.value("cost", Json()))
        differences.push_back("cost: " + stored["cost"].dump() + " was stored, " + again.value("cost", Json()).dump() +
                              " came out");
}

/// The candidate of that unit type; null: there is none that could run it.
Json find_feasible(const Json& decision, const std::string& unit_type_id)
{
    for (const Json& one : decision["candidates"]) {
        if (one["feasible"] == true && text_of(one, "unit_type_id") == unit_type_id) return one;
    }
    return nullptr;
}

void compare(const Json& stored, Replay& replay)
{
    const Json before = stored_winner(stored);
    std::string currency;
    if (before.is_object() && before.contains("cost") && before["cost"].is_object())
        currency = text_of(before["cost"], "currency");
    const Json again = to_json(replay.decision, currency);
    Json after = stored_winner(again);
    const auto place = [](const Json& winner) {
        return winner.is_object() ? text_of(winner, "center") + "/" + text_of(winner, "unit_type") : "none";
    };
    const bool is_same_place =
        before.is_object() == after.is_object() &&
        (!before.is_object() || text_of(before, "unit_type_id") == text_of(after, "unit_type_id"));
    if (!is_same_place && before.is_object() && stored.contains("rank_text") && stored["rank_text"].is_string()) {
        if (const Json there = find_feasible(again, text_of(before, "unit_type_id")); there.is_object()) {
            replay.note = "alone it would go to " + place(after) + "; decided together with others it was put at " +
                          place(before) + ", " + stored["rank_text"].get<std::string>();
            compare_numbers(before, there, replay.differences);
            return;
        }
    }
    if (!is_same_place)
        replay.differences.push_back("winner: " + place(before) + " was stored, " + place(after) + " came out");
    else if (before.is_object())
        compare_numbers(before, after, replay.differences);
}

} // namespace

Result<Replay> replay_placement(const Json& placement)
{
    std::vector<FieldError> errors;
    ObjectReader reader(placement, "", errors);
    const Json* decision = reader.object("decision");
    const Json* inputs = reader.object("inputs");
    if (decision == nullptr && errors.empty()) reader.fail("decision", "is missing");
    if (inputs == nullptr && errors.empty())
        reader.fail("inputs", "is missing: ask for the placement with its inputs; those that were decided before "
                              "inputs were kept cannot be made again");
    if (!errors.empty()) return Error{Errc::kInvalid, "this is no placement with its inputs", std::move(errors)};
    Result<RouteInputs> parsed = parse_route_inputs(*inputs);
    if (!parsed) {
        Error error = parsed.error();
        for (FieldError& field : error.fields)
            field.field = "inputs." + field.field;
        return error;
    }
    Replay replay{std::move(*parsed), {}, {}, {}};
    replay.decision = route(replay.inputs.request, replay.inputs.unit_types, replay.inputs.knowledge);
    compare(with_current_names(*decision), replay);
    return replay;
}

} // namespace fathom
