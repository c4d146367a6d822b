#include "server/probing/orders/run_selection.hpp"

#include "core/decide/probing/copies_plan.hpp"
#include "core/model/probe_result.hpp"

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

std::string place_of(const UnitTypeOffer& offer)
{
    return offer.center + "/" + offer.name;
}

/// Empty when the catalog says that units of this type run the operators; else why not.
std::string catalog_obstacle(const UnitTypeOffer& offer, const std::vector<OperatorUse>& operators)
{
    std::string missing;
    std::set<std::string> seen;
    for (const OperatorUse& use : operators) {
        if (offer.runs({use.id}) || !seen.insert(use.id).second) continue;
        missing += (missing.empty() ? "" : ", ") + use.id;
    }
    return missing.empty() ? std::string() : "does not offer " + missing;
}

const CenterAnswer* find_answer(std::span<const CenterAnswer> answers, const CenterId& center)
{
    const auto found =
        std::find_if(answers.begin(), answers.end(), [&](const CenterAnswer& a) { return a.center_id == center; });
    return found == answers.end() ? nullptr : &*found;
}

/// The same by what its center says.
std::string answered_obstacle(const UnitTypeOffer& offer, const CenterAnswer& answer)
{
    if (std::any_of(answer.able.begin(), answer.able.end(), [&](const auto& type) { return type.name == offer.name; }))
        return {};
    for (const link::UnableUnitType& type : answer.unable) {
        if (type.name == offer.name) return "its center says: " + type.reason;
    }
    return "its center does not name it";
}

/// How many units are wanted of a type that has `unit_count`; too large ones come out as well.
std::vector<std::int64_t> wanted_counts(const SelectionOrder& order, std::int64_t unit_count)
{
    switch (order.count_by) {
    case CountBy::kOrder:
        return order.unit_counts;
    case CountBy::kScaling:
        if (order.mode == ScalingMode::kThroughput) return plan_copies(unit_count, kMaxProbeCopies);
        return scaling_counts(std::max<std::int64_t>(unit_count, 1), kScalingCounts);
    case CountBy::kCenter:
        return {0};
    }
    return order.unit_counts;
}

std::string too_few(const UnitTypeOffer& offer, std::int64_t count)
{
    return "has " + std::to_string(offer.unit_count) + " units, " + std::to_string(count) + " are asked for";
}

/// What keeps units of this type from running any of the counts now, apart from the operators.
std::string room_obstacle(const UnitTypeOffer& offer, const SelectionOrder& order)
{
    if (order.mode == ScalingMode::kThroughput && !offer.copies_obstacle.empty()) return offer.copies_obstacle;
    const std::vector<std::int64_t> counts = wanted_counts(order, offer.unit_count);
    const std::int64_t least = std::max<std::int64_t>(*std::min_element(counts.begin(), counts.end()), 1);
    if (offer.unit_count < least) return too_few(offer, least);
    return offer.closed_reason;
}

/// Adds a place with the counts that it has; the others are left out by name.
void add_place(Selection& selection, const UnitTypeOffer& offer, const SelectionOrder& order,
               const CenterAnswer* answer)
{
    SelectedPlace place{offer, {}, {}};
    for (const std::int64_t count : wanted_counts(order, offer.unit_count)) {
        if (count <= offer.unit_count)
            place.unit_counts.push_back(count);
        else
            selection.left_out.push_back({place_of(offer), too_few(offer, count)});
    }
    if (answer != nullptr) {
        for (const link::AbleUnitType& type : answer->able)
            place.able_unit_types.push_back(type.name);
    }
    selection.places.push_back(std::move(place));
}

bool is_wanted(const UnitTypeOffer& offer, const std::vector<std::string>& centers)
{
    return centers.empty() || std::any_of(centers.begin(), centers.end(), [&](const std::string& key) {
               return key == offer.center || key == offer.center_id.value;
           });
}

/// Names of centers that stand for nothing on offer.
void check_centers(const SelectionOrder& order, const std::vector<UnitTypeOffer>& offers,
                   std::vector<FieldError>& errors)
{
    for (std::size_t i = 0; i < order.centers.size(); ++i) {
        const bool known = std::any_of(offers.begin(), offers.end(), [&](const UnitTypeOffer& offer) {
            return is_wanted(offer, {order.centers[i]});
        });
        if (!known) errors.push_back({"centers[" + std::to_string(i) + "]", "is not a center that offers unit types"});
    }
}

Result<Selection> pick(const SelectionOrder& order, const std::vector<OperatorUse>& operators,
                       const std::vector<UnitTypeOffer>& offers)
{
    std::vector<FieldError> errors;
    Selection chosen;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < order.unit_types.size(); ++i) {
        const std::string field = "unit_types[" + std::to_string(i) + "]";
        const UnitTypeOffer* offer = find_offer(offers, order.unit_types[i]);
        if (offer == nullptr) {
            errors.push_back({field, "is not a unit type that a center offers"});
            continue;
        }
        std::string reason = catalog_obstacle(*offer, operators);
        if (reason.empty()) reason = room_obstacle(*offer, order);
        if (!reason.empty())
            errors.push_back({field, reason});
        else if (seen.insert(offer->id.value).second)
            add_place(chosen, *offer, order, nullptr);
    }
    return value_or_errors(std::move(chosen), std::move(errors), "the probe run");
}

Error infeasible(std::vector<FieldError> reasons)
{
    return Error{Errc::kInfeasible, "no unit type can run this probe task", std::move(reasons)};
}

/// Empty when this offer is a place for the task; else why not.
std::string obstacle_at(const UnitTypeOffer& offer, const SelectionOrder& order,
                        const std::vector<OperatorUse>& operators, const CenterAnswer* answer)
{
    std::string reason = answer != nullptr ? answered_obstacle(offer, *answer) : catalog_obstacle(offer, operators);
    return reason.empty() ? room_obstacle(offer, order) : reason;
}

/// What was found where nobody has picked the unit types.
struct Search {
    Selection chosen;
    std::vector<FieldError> reasons; ///< why other places are none for the task
    std::set<std::string> wanted;    ///< centers
    std::set<std::string> served;    ///< centers that have a place
};

void look_at(const UnitTypeOffer& offer, const SelectionOrder& order, const std::vector<OperatorUse>& operators,
             const CenterAnswer* answer, Search& search)
{
    const std::string reason = obstacle_at(offer, order, operators, answer);
    if (!reason.empty()) {
        search.reasons.push_back({place_of(offer), reason});
        return;
    }
    const bool is_first = search.served.insert(offer.center_id.value).second;
    if (is_first || order.selection != RunSelection::kCenter) add_place(search.chosen, offer, order, answer);
}

} // namespace

std::string_view to_string(RunSelection selection)
{
    switch (selection) {
    case RunSelection::kCatalog:
        return "catalog";
    case RunSelection::kAsk:
        return "ask";
    case RunSelection::kUser:
        return "user";
    case RunSelection::kCenter:
        return "center";
    }
    return "catalog";
}

std::string_view to_string(CountBy count_by)
{
    switch (count_by) {
    case CountBy::kOrder:
        return "order";
    case CountBy::kScaling:
        return "scaling";
    case CountBy::kCenter:
        return "center";
    }
    return "order";
}

Result<Selection> select_unit_types(const SelectionOrder& order, const std::vector<OperatorUse>& operators,
                                    const std::vector<UnitTypeOffer>& offers, std::span<const CenterAnswer> answers)
{
    if (order.selection == RunSelection::kUser) return pick(order, operators, offers);
    std::vector<FieldError> errors;
    check_centers(order, offers, errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the probe run names unknown centers", std::move(errors)};

    Search search;
    Selection& chosen = search.chosen;
    const bool is_asked = order.selection == RunSelection::kAsk;
    for (const CenterAnswer& answer : answers) {
        if (!answer.no_answer.empty()) chosen.left_out.push_back({answer.center, answer.no_answer});
    }
    for (const UnitTypeOffer& offer : offers) {
        if (!is_wanted(offer, order.centers)) continue;
        search.wanted.insert(offer.center_id.value);
        const CenterAnswer* answer = is_asked ? find_answer(answers, offer.center_id) : nullptr;
        if (is_asked && (answer == nullptr || !answer->no_answer.empty())) continue;
        look_at(offer, order, operators, answer, search);
    }
    // Who is asked may be away; who is named from the catalog was expected to be there.
    const bool named_center_left_out =
        !is_asked && !order.centers.empty() && search.served.size() < search.wanted.size();
    if (chosen.places.empty() || named_center_left_out) {
        search.reasons.insert(search.reasons.end(), chosen.left_out.begin(), chosen.left_out.end());
        return infeasible(std::move(search.reasons));
    }
    return std::move(chosen);
}

} // namespace fathom::server
