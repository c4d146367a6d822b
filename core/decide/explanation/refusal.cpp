#include "core/decide/explanation/refusal.hpp"

#include "core/base/nearest_name.hpp"
#include "core/base/result.hpp"
#include "core/base/shared_list.hpp"
#include "core/decide/prediction/device_choice.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/filters.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_filter.hpp"
#include "core/decide/routing/unit_type_view.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/job.hpp"
#include "core/model/job_software.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace fathom {
namespace {

using Names = std::set<std::string, std::less<>>;
using Places = std::vector<const UnitTypeView*>;

/// Of unknown names in one list so many are named: what was meant is looked for among all names that there are.
constexpr std::size_t kMaxUnknown = 16;

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
                           const std::function<const SharedList<std::string>&(const UnitTypeView&)>& has)
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
    const auto is_meant = [&](const UnitTypeView* view) {
        return units.center.empty() || is_center(*view, units.center);
    };
    const Names allowed(request.project_centers.begin(), request.project_centers.end());
    const auto may_use = [&](const UnitTypeView* view) {
        return allowed.empty() || allowed.contains(view->center_name);
    };
    Places there;
    std::copy_if(places.begin(), places.end(), std::back_inserter(there),
                 [&](const UnitTypeView* view) { return is_meant(view) && may_use(view); });
    const auto refuses = [&](const UnitTypeView* view) { return has_refused(request, *view); };
    if (!there.empty() && std::all_of(there.begin(), there.end(), refuses))
        return {units.center.empty() ? "project" : "units.center",
                short_list(names_of(there, [](const UnitTypeView& view) { return view.center_name; })) +
                    " said that there is no local user for whose job it is"};
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
    wanted.reserve(request.operators.size());
    for (const OperatorDemand& demand : request.operators)
        wanted.push_back(demand.operator_id);
    return {"operators",
            "no unit type has all of these operators; " +
                fewest_missing(places, wanted, [](const UnitTypeView& view) -> const SharedList<std::string>& {
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
    if (units.is_exclusive() &&
        std::all_of(right.begin(), right.end(), [](const UnitTypeView* view) { return view->units_per_device == 0; }))
        return {"units.sharing", "no center that could run it can keep a whole device for one job: their agents are of "
                                 "an earlier version"};
    return {"units.isa",
            "no unit type has all of these instruction sets; " +
                fewest_missing(right, units.isa,
                               [](const UnitTypeView& view) -> const SharedList<std::string>& { return view.isa; })};
}

FieldError unkept_gpu_memory(const GpuMemoryRequest& need, const Places& places)
{
    const UnitTypeView& best =
        largest(places, [](const UnitTypeView& view) { return static_cast<double>(view.gpu_memory_bytes); });
    const std::string needed = bytes_text(static_cast<double>(need.all_bytes())) + " (" +
                               bytes_text(static_cast<double>(need.persistent_bytes)) + " persistent, " +
                               bytes_text(static_cast<double>(need.temporary_bytes)) + " temporary)";
    if (best.gpu_memory_bytes == 0)
        return {"units.gpu_memory", "no unit type that could run it has a GPU that is known to have " + needed};
    return {"units.gpu_memory", "no GPU has " + needed + " of memory for a job; the largest are those of " +
                                    place_name(best) + " with " +
                                    bytes_text(static_cast<double>(best.gpu_memory_bytes))};
}

FieldError unkept_memory(const UnitRequest& units, const Places& places)
{
    Places large;
    std::copy_if(places.begin(), places.end(), std::back_inserter(large),
                 [&](const UnitTypeView* view) { return view->memory_bytes_per_unit >= units.memory_bytes; });
    if (!large.empty()) return unkept_gpu_memory(units.gpu_memory, large);
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
            "no unit type that could run it has " + units_text(best.least_count_for(units)) +
                (best.count_for(units, 1) > 1 ? " on whole devices, since it shares none" : "") + "; the largest is " +
                place_name(best) + " with " + std::to_string(best.unit_count)};
}

FieldError unkept_software(const RouteRequest& request)
{
    return {request.software.containers ? "container" : "modules",
            "no center that could run it has " + to_string(request.software) +
                " for jobs; `fathom center show` tells what each has (the fact `software`)"};
}

FieldError unkept_sites(const RouteRequest& request, const Places& places)
{
    const Names centers = names_of(places, [](const UnitTypeView& view) { return view.center_name; });
    return {"data.sites", "what could run it is at " + short_list(centers) + ", and its data may only be at " +
                              short_list(Names(request.sites.begin(), request.sites.end()))};
}

FieldError unkept_wall_limit(const Places& places)
{
    const UnitTypeView& best =
        largest(places, [](const UnitTypeView& view) { return static_cast<double>(view.max_wall_s); });
    return {"wall_limit_s", "no unit type that could run it lets a job run so long; the longest is " +
                                place_name(best) + " with " + duration_text(static_cast<double>(best.max_wall_s)) +
                                ": set wall_limit_s to " + std::to_string(best.max_wall_s) + " or less"};
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
    case Filter::kSoftware:
        return unkept_software(request);
    case Filter::kDataSite:
        return unkept_sites(request, places);
    case Filter::kWallLimit:
        return unkept_wall_limit(places);
    case Filter::kQuota:
    case Filter::kDrain:
    case Filter::kHealth:
    case Filter::kDeadline:
    case Filter::kBudget:
    case Filter::kSpeedup:
        break;
    }
    return {}; // the others do not remove for good
}

/// Something that a job names, and where.
struct Named {
    std::string field;
    std::string name;
};

/// Those of `named` that no unit type has as a name or id.
template <class NameOf, class IdOf>
std::vector<Named> select_unknown(const std::vector<Named>& named, std::span<const UnitTypeView> unit_types,
                                  NameOf name_of, IdOf id_of)
{
    std::set<std::string_view> missing;
    for (const Named& one : named)
        missing.insert(one.name);
    for (const UnitTypeView& view : unit_types) {
        if (missing.empty()) break;
        missing.erase(name_of(view));
        missing.erase(id_of(view));
    }
    std::vector<Named> unknown;
    std::copy_if(named.begin(), named.end(), std::back_inserter(unknown),
                 [&](const Named& one) { return missing.contains(one.name); });
    return unknown;
}

} // namespace

std::vector<FieldError> find_unknown_names(const RouteRequest& request, std::span<const UnitTypeView> unit_types)
{
    std::vector<FieldError> unknown;
    const auto look_up = [&](const std::string& what, const std::string& field, const std::vector<Named>& named,
                             const auto& name_of, const auto& id_of) {
        const std::vector<Named> missing = select_unknown(named, unit_types, name_of, id_of);
        if (missing.empty()) return;
        Names known; // gathered for an error only: most jobs name nothing, or what is there
        for (const UnitTypeView& view : unit_types)
            known.insert(name_of(view));
        const std::size_t said = std::min(missing.size(), kMaxUnknown);
        for (std::size_t i = 0; i < said; ++i)
            unknown.push_back(
                {missing[i].field, "there is no " + what + " " + missing[i].name + name_hint(missing[i].name, known)});
        if (said < missing.size())
            unknown.push_back({field, std::to_string(missing.size() - said) + " more of these names are unknown"});
    };
    const auto center_name = [](const UnitTypeView& view) -> const std::string& { return view.center_name; };
    const auto center_id = [](const UnitTypeView& view) -> const std::string& { return view.center_id.value; };
    const auto type_name = [](const UnitTypeView& view) -> const std::string& { return view.name; };
    const auto type_id = [](const UnitTypeView& view) -> const std::string& { return view.id.value; };

    const UnitRequest& units = request.units;
    if (!units.center.empty())
        look_up("center", "units.center", {{"units.center", units.center}}, center_name, center_id);
    if (units.type != "any") look_up("unit type", "units.type", {{"units.type", units.type}}, type_name, type_id);
    std::vector<Named> sites;
    sites.reserve(request.sites.size());
    for (std::size_t i = 0; i < request.sites.size(); ++i)
        sites.push_back({"data.sites[" + std::to_string(i) + "]", request.sites[i]});
    look_up("center", "data.sites", sites, center_name, center_id);
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
