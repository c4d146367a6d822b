#include "core/decide/refusal.hpp"

#include "core/decide/decision_text.hpp"
#include "core/decide/device_choice.hpp"
#include "core/decide/nearest_name.hpp"
#include "core/decide/route_filter.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace fathom {
namespace {

using Names = std::set<std::string, std::less<>>;
using Places = std::vector<const UnitTypeView*>;

std::string place_name(const UnitTypeView& view)
{
    return view.center_name + "/" + view.name;
}

template <class NameOf>
Names names_of(const Places& places, NameOf name_of)
{
    Names names;
    for (const UnitTypeView* view : places)
        names.insert(name_of(*view));
    return names;
}

/// The place of the largest amount; of equal ones the first by name.
const UnitTypeView& largest(const Places& places, const std::function<double(const UnitTypeView&)>& amount_of)
{
    return **std::min_element(places.begin(), places.end(), [&](const UnitTypeView* a, const UnitTypeView* b) {
        return std::tuple(-amount_of(*a), place_name(*a)) < std::tuple(-amount_of(*b), place_name(*b));
    });
}

/// Of a list of what is wanted: what the place that has most of it still lacks.
std::string fewest_missing(const Places& places, const std::vector<std::string>& wanted,
                           const std::function<const std::vector<std::string>&(const UnitTypeView&)>& has)
{
    const auto missing_at = [&](const UnitTypeView& view) {
        Names missing;
        for (const std::string& one : wanted) {
            if (!std::binary_search(has(view).begin(), has(view).end(), one)) missing.insert(one);
        }
        return missing;
    };
    const UnitTypeView& nearest =
        largest(places, [&](const UnitTypeView& view) { return -static_cast<double>(missing_at(view).size()); });
    return "the nearest is " + place_name(nearest) + ", which lacks " + short_list(missing_at(nearest));
}

FieldError unkept_policy(const RouteRequest& request, const Places& places)
{
    const UnitRequest& units = request.units;
    const auto is_center = [&](const UnitTypeView* view) {
        return units.center.empty() || units.center == view->center_name || units.center == view->center_id.value;
    };
    const Names allowed(request.project_centers.begin(), request.project_centers.end());
    const auto may_use = [&](const UnitTypeView* view) {
        return allowed.empty() || allowed.contains(view->center_name);
    };
    Places there;
    std::copy_if(places.begin(), places.end(), std::back_inserter(there),
                 [&](const UnitTypeView* view) { return is_center(view) && may_use(view); });
    if (there.empty())
        return {units.center.empty() ? "project" : "units.center",
                "project " + request.project + " may only use " + short_list(allowed) +
                    (units.center.empty() ? ", where there are no units" : "")};
    const Names types = names_of(there, [](const UnitTypeView& view) { return view.name; });
    return {"units.type",
            (units.center.empty() ? "what project " + request.project + " may use" : "center " + units.center) +
                " has no unit type " + units.type + name_hint(units.type, types)};
}

FieldError unkept_operators(const RouteRequest& request, const Places& places)
{
    std::vector<std::string> wanted;
    for (const OperatorDemand& demand : request.operators)
        wanted.push_back(demand.operator_id);
    return {"operators",
            "no unit type has all of these operators; " +
                fewest_missing(places, wanted, [](const UnitTypeView& view) -> const std::vector<std::string>& {
                    return view.operators;
                })};
}

FieldError unkept_device(const UnitRequest& units, const Places& places)
{
    Places right;
    std::copy_if(places.begin(), places.end(), std::back_inserter(right), [&](const UnitTypeView* view) {
        return units.device.empty() || (units.device == "gpu") == is_device(view->resource_type);
    });
    if (right.empty()) {
        const Names kinds = names_of(places, [](const UnitTypeView& view) { return view.resource_type; });
        return {"units.device", std::string("no unit type that could run it is a ") +
                                    (units.device == "gpu" ? "GPU" : "CPU") + "; there is " + short_list(kinds)};
    }
    return {"units.isa",
            "no unit type has all of these instruction sets; " +
                fewest_missing(right, units.isa,
                               [](const UnitTypeView& view) -> const std::vector<std::string>& { return view.isa; })};
}

FieldError unkept_memory(const UnitRequest& units, const Places& places)
{
    const UnitTypeView& best =
        largest(places, [](const UnitTypeView& view) { return static_cast<double>(view.memory_bytes_per_unit); });
    const std::string needed = bytes_text(static_cast<double>(units.memory_bytes));
    if (best.memory_bytes_per_unit == 0)
        return {"units.memory_bytes",
                "no unit type says how much memory its units have, so none is known to have " + needed};
    return {"units.memory_bytes", "no unit has " + needed + " of memory; the largest are those of " + place_name(best) +
                                      " with " + bytes_text(static_cast<double>(best.memory_bytes_per_unit))};
}

FieldError unkept_count(const UnitRequest& units, const Places& places)
{
    const UnitTypeView& best =
        largest(places, [](const UnitTypeView& view) { return static_cast<double>(view.unit_count); });
    return {units.count ? "units.count" : "units.min",
            "no unit type that could run it has " + units_text(units.count.value_or(units.min)) + "; the largest is " +
                place_name(best) + " with " + std::to_string(best.unit_count)};
}

FieldError unkept_sites(const RouteRequest& request, const Places& places)
{
    const Names centers = names_of(places, [](const UnitTypeView& view) { return view.center_name; });
    return {"data.sites", "what could run it is at " + short_list(centers) + ", and its data may only be at " +
                              short_list(Names(request.sites.begin(), request.sites.end()))};
}

FieldError unkept(const RouteRequest& request, Filter filter, const Places& places)
{
    switch (filter) {
    case Filter::kPolicy:
        return unkept_policy(request, places);
    case Filter::kOperators:
        return unkept_operators(request, places);
    case Filter::kDevice:
        return unkept_device(request.units, places);
    case Filter::kMemory:
        return unkept_memory(request.units, places);
    case Filter::kUnitCount:
        return unkept_count(request.units, places);
    case Filter::kDataSite:
        return unkept_sites(request, places);
    case Filter::kQuota:
    case Filter::kDrain:
    case Filter::kHealth:
    case Filter::kDeadline:
    case Filter::kBudget:
        break;
    }
    return {}; // the others do not remove for good
}

} // namespace

std::vector<FieldError> find_unknown_names(const RouteRequest& request, std::span<const UnitTypeView> unit_types)
{
    const auto center_name = [](const UnitTypeView& view) -> const std::string& { return view.center_name; };
    const auto type_name = [](const UnitTypeView& view) -> const std::string& { return view.name; };
    std::vector<FieldError> unknown;
    // The names are gathered for an error only: most jobs name nothing, or what is there.
    const auto look_up = [&](const std::string& field, const std::string& what, const std::string& name,
                             const auto& name_of, const auto& id_of) {
        const auto is_meant = [&](const UnitTypeView& view) { return name_of(view) == name || id_of(view) == name; };
        if (std::any_of(unit_types.begin(), unit_types.end(), is_meant)) return;
        Names known;
        for (const UnitTypeView& view : unit_types)
            known.insert(name_of(view));
        unknown.push_back({field, "there is no " + what + " " + name + name_hint(name, known)});
    };
    const auto look_up_center = [&](const std::string& field, const std::string& name) {
        look_up(field, "center", name, center_name, [](const UnitTypeView& view) { return view.center_id.value; });
    };
    if (!request.units.center.empty()) look_up_center("units.center", request.units.center);
    if (request.units.type != "any")
        look_up("units.type", "unit type", request.units.type, type_name,
                [](const UnitTypeView& view) { return view.id.value; });
    for (std::size_t i = 0; i < request.sites.size(); ++i)
        look_up_center("data.sites[" + std::to_string(i) + "]", request.sites[i]);
    return unknown;
}

std::optional<FieldError> find_unkept_constraint(const RouteRequest& request, std::span<const UnitTypeView> unit_types)
{
    Filter furthest = Filter::kPolicy;
    Places removed;
    for (const UnitTypeView& view : unit_types) {
        const std::optional<Filter> filter = removing_filter(request, view);
        if (!filter || *filter == Filter::kDrain || *filter == Filter::kHealth) return std::nullopt;
        if (*filter > furthest) {
            furthest = *filter;
            removed.clear();
        }
        if (*filter == furthest) removed.push_back(&view);
    }
    if (removed.empty()) return FieldError{"units", "no center offers any units"};
    return unkept(request, furthest, removed);
}

std::vector<FieldError> list_obstacles(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                                       std::size_t most)
{
    std::vector<FieldError> obstacles;
    for (const UnitTypeView& view : unit_types) {
        if (obstacles.size() >= most) break;
        if (const std::optional<Filter> filter = removing_filter(request, view))
            obstacles.push_back({place_name(view), filter_reason(request, view, *filter)});
    }
    return obstacles;
}

} // namespace fathom
