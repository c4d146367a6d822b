#include "server/probing/run_selection.hpp"

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

/// Empty when units of this type can run the operators now; else why not.
std::string obstacle(const UnitTypeOffer& offer, const std::vector<OperatorUse>& operators, std::int64_t unit_count)
{
    std::string missing;
    std::set<std::string> seen;
    for (const OperatorUse& use : operators) {
        if (offer.runs({use.id}) || !seen.insert(use.id).second) continue;
        missing += (missing.empty() ? "" : ", ") + use.id;
    }
    if (!missing.empty()) return "does not offer " + missing;
    if (offer.unit_count < unit_count)
        return "has " + std::to_string(offer.unit_count) + " units, " + std::to_string(unit_count) + " are asked for";
    return offer.closed_reason;
}

std::string place_of(const UnitTypeOffer& offer)
{
    return offer.center + "/" + offer.name;
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

Result<std::vector<UnitTypeOffer>> pick(const SelectionOrder& order, const std::vector<OperatorUse>& operators,
                                        const std::vector<UnitTypeOffer>& offers)
{
    std::vector<FieldError> errors;
    std::vector<UnitTypeOffer> chosen;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < order.unit_types.size(); ++i) {
        const std::string field = "unit_types[" + std::to_string(i) + "]";
        const UnitTypeOffer* offer = find_offer(offers, order.unit_types[i]);
        if (offer == nullptr) {
            errors.push_back({field, "is not a unit type that a center offers"});
            continue;
        }
        const std::string reason = obstacle(*offer, operators, order.unit_count);
        if (!reason.empty())
            errors.push_back({field, reason});
        else if (seen.insert(offer->id.value).second)
            chosen.push_back(*offer);
    }
    return value_or_errors(std::move(chosen), std::move(errors), "the probe run");
}

Error infeasible(std::vector<FieldError> reasons)
{
    return Error{Errc::kInfeasible, "no unit type can run this probe task", std::move(reasons)};
}

} // namespace

std::string_view to_string(RunSelection selection)
{
    switch (selection) {
    case RunSelection::kCatalog:
        return "catalog";
    case RunSelection::kUser:
        return "user";
    case RunSelection::kCenter:
        return "center";
    }
    return "catalog";
}

Result<std::vector<UnitTypeOffer>> select_unit_types(const SelectionOrder& order,
                                                     const std::vector<OperatorUse>& operators,
                                                     const std::vector<UnitTypeOffer>& offers)
{
    if (order.selection == RunSelection::kUser) return pick(order, operators, offers);
    std::vector<FieldError> errors;
    check_centers(order, offers, errors);
    if (!errors.empty()) return Error{Errc::kInvalid, "the probe run names unknown centers", std::move(errors)};

    std::vector<UnitTypeOffer> chosen;
    std::vector<FieldError> reasons;
    std::set<std::string> asked; // centers
    std::set<std::string> served;
    for (const UnitTypeOffer& offer : offers) {
        if (!is_wanted(offer, order.centers)) continue;
        asked.insert(offer.center_id.value);
        const std::string reason = obstacle(offer, operators, order.unit_count);
        if (!reason.empty())
            reasons.push_back({place_of(offer), reason});
        else if (const bool first = served.insert(offer.center_id.value).second;
                 first || order.selection == RunSelection::kCatalog)
            chosen.push_back(offer);
    }
    const bool named_center_left_out = !order.centers.empty() && served.size() < asked.size();
    if (chosen.empty() || named_center_left_out) return infeasible(std::move(reasons));
    return chosen;
}

} // namespace fathom::server
