#include "core/decide/routing/input_texts.hpp"
#include "core/decide/routing/route_inputs_request.hpp"
#include "core/decide/routing/route_inputs_unit_type.hpp"
#include "core/decide/routing/route_json.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

using namespace route_inputs;

constexpr std::size_t kBestKept = 8;
/// Bytes of the text of one unit type, most often.
constexpr std::size_t kTextExpected = 8192;

/// Adds the candidate of least `amount` among those that `matters` lets through.
template <class Matters, class Amount>
void add_least(const Decision& decision, std::vector<std::size_t>& chosen, Matters matters, Amount amount)
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
        const Candidate& candidate = decision.candidates[i];
        if (matters(candidate) && (!best || amount(candidate) < amount(decision.candidates[*best]))) best = i;
    }
    if (best && std::find(chosen.begin(), chosen.end(), *best) == chosen.end()) chosen.push_back(*best);
}

} // namespace

std::vector<std::size_t> telling_candidates(const Decision& decision)
{
    const auto is_feasible = [](const Candidate& one) { return one.feasible; };
    const auto is_removed_by = [](Filter filter) {
        return [filter](const Candidate& one) { return one.removed_by == filter; };
    };
    const auto completion_s = [](const Candidate& one) { return one.completion_s; };
    const auto cost = [](const Candidate& one) { return one.cost; };
    std::vector<std::size_t> chosen;
    const auto add_until = [&](std::size_t most, auto matters) {
        for (std::size_t i = 0; i < decision.candidates.size() && chosen.size() < most; ++i) {
            if (matters(decision.candidates[i]) && std::find(chosen.begin(), chosen.end(), i) == chosen.end())
                chosen.push_back(i);
        }
    };
    add_until(kBestKept, is_feasible);
    // Ties are judged against the least objective, which need not be the winner's.
    std::int64_t fewest_unknown = decision.winner ? decision.candidates[*decision.winner].unknown_parts() : 0;
    add_least(
        decision, chosen, [&](const Candidate& one) { return one.feasible && one.unknown_parts() == fewest_unknown; },
        [](const Candidate& one) { return one.objective; });
    add_least(decision, chosen, is_feasible, completion_s);
    add_least(decision, chosen, is_feasible, cost);
    add_least(
        decision, chosen, [](const Candidate& one) { return one.feasible && one.energy_j > 0; },
        [](const Candidate& one) { return one.energy_j; });
    for (const Filter filter : {Filter::kDeadline, Filter::kBudget}) {
        add_least(decision, chosen, is_removed_by(filter), completion_s);
        add_least(decision, chosen, is_removed_by(filter), cost);
    }
    add_until(kMaxInputsKept, is_feasible);
    add_until(kMaxInputsKept, is_removed_by(Filter::kUnitCount));
    // Those that the GPU's threshold removed would come back without what their center's choice was made by.
    add_until(kMaxInputsKept, [](const Candidate& one) { return one.removed_by != Filter::kSpeedup; });
    return chosen;
}

namespace {

/// Index of the unit type with this id: fast where they are in order of ids.
std::optional<std::size_t> find_unit_type(const UnitTypeList& unit_types, const UnitTypeId& id)
{
    std::size_t first = 0;
    for (std::size_t last = unit_types.size(); first < last;) {
        const std::size_t middle = first + (last - first) / 2;
        if (unit_types.given(middle).id.value < id.value)
            first = middle + 1;
        else
            last = middle;
    }
    if (first < unit_types.size() && unit_types.given(first).id == id) return first;
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        if (unit_types.given(i).id == id) return i;
    }
    return std::nullopt;
}

} // namespace

std::vector<const UnitTypeView*> views_of(const Decision& decision, std::span<const std::size_t> candidates,
                                          const UnitTypeList& unit_types)
{
    std::vector<const UnitTypeView*> views;
    for (const std::size_t index : candidates) {
        const auto found = find_unit_type(unit_types, decision.candidates[index].unit_type_id);
        if (found) views.push_back(&unit_types[*found]);
    }
    return views;
}

namespace {

/// Tells requests that read other operators (is_wanted()) apart.
std::string operators_read(const RouteRequest& request)
{
    std::set<std::string_view> ids;
    for (const OperatorDemand& demand : request.operators)
        ids.insert(demand.operator_id);
    for (const OperatorDemand& demand : request.parts())
        ids.insert(demand.operator_id);
    std::string text;
    for (const std::string_view id : ids) // with its length: what a job names may have any characters
        text.append(std::to_string(id.size())).append(":").append(id);
    return text;
}

/// What a described candidate was decided by; nullptr: no choice was made there.
const RunCorrection* correction_of(const Decision& decision, const UnitTypeId& unit_type)
{
    for (const Candidate& one : decision.candidates) {
        const bool is_described =
            one.feasible || one.removed_by == Filter::kDeadline || one.removed_by == Filter::kBudget;
        if (one.unit_type_id == unit_type && is_described) return &one.correction;
    }
    return nullptr;
}

} // namespace

Json route_inputs_json(const RouteRequest& request, const UnitTypeList& unit_types, const RouteKnowledge& knowledge,
                       const Decision& decision)
{
    Json list = Json::array();
    for (const UnitTypeView* view : views_of(decision, telling_candidates(decision), unit_types)) {
        Json json = own_members(request, *view, knowledge, correction_of(decision, view->id));
        for (const SharedMember& member : shared_members(request, *view))
            json[member.name] = member.json(request, *view);
        list.push_back(std::move(json));
    }
    return {{"request", request_json(request)}, {"unit_types", std::move(list)}};
}

std::string route_inputs_text(const RouteRequest& request, const UnitTypeList& unit_types,
                              const RouteKnowledge& knowledge, const Decision& decision, InputTexts& texts)
{
    const std::string operators = operators_read(request);
    const std::vector<const UnitTypeView*> views = views_of(decision, telling_candidates(decision), unit_types);
    std::string text;
    text.reserve(kTextExpected * (views.size() + 1));
    text.append("{\"request\":").append(request_json(request).dump()).append(",\"unit_types\":[");
    const char* separator = "";
    for (const UnitTypeView* view : views) {
        text += std::exchange(separator, ",");
        text += own_members(request, *view, knowledge, correction_of(decision, view->id)).dump();
        text.pop_back(); // its brace: more members follow
        for (const SharedMember& member : shared_members(request, *view)) {
            text.append(",\"").append(member.name).append("\":");
            const auto make = [&] { return member.json(request, *view).dump(); };
            if (member.source == nullptr) // there is nothing to be told
                text += make();
            else
                text += texts.of(member.source, member.name, member.is_by_operators ? operators : std::string(), make);
        }
        text += '}';
    }
    text += "]}";
    return text;
}

} // namespace fathom
