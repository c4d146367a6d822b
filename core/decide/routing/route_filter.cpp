#include "core/decide/routing/route_filter.hpp"

#include "core/base/join_text.hpp"
#include "core/decide/prediction/device_choice.hpp"
#include "core/decide/routing/decision_text.hpp"

#include <algorithm>

namespace fathom {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_type(const UnitTypeView& view, const std::string& name_or_id)
{
    return name_or_id == "any" || name_or_id == view.name || name_or_id == view.id.value;
}

bool is_allowed(const RouteRequest& request, const UnitTypeView& view)
{
    return (request.project_centers.empty() || contains(request.project_centers, view.center_name)) &&
           !has_refused(request, view);
}

bool is_named_by(const UnitRequest& units, const UnitTypeView& view)
{
    return (units.center.empty() || is_center(view, units.center)) && is_type(view, units.type);
}

bool has_all_operators(const RouteRequest& request, const UnitTypeView& view)
{
    return std::all_of(request.operators.begin(), request.operators.end(),
                       [&](const OperatorDemand& demand) { return has_operator(view, demand.operator_id); });
}

bool is_right_device(const UnitRequest& units, const UnitTypeFacts& facts)
{
    return units.device.empty() || (units.device == "gpu") == facts.is_device;
}

/// Whether a job that shares no device can have one of its own there.
bool keeps_devices(const UnitRequest& units, const UnitTypeFacts& facts)
{
    return !units.is_exclusive() || facts.units_per_device > 0;
}

bool has_instructions(const UnitRequest& units, const UnitTypeView& view)
{
    return std::all_of(units.isa.begin(), units.isa.end(), [&](const std::string& one) {
        return std::binary_search(view.isa.begin(), view.isa.end(), one);
    });
}

/// Most requests need none: the view is not read then.
bool has_software(const RouteRequest& request, const UnitTypeView& view)
{
    return request.software == SoftwareKinds() || view.software.have(request.software);
}

bool is_at_site(const RouteRequest& request, const UnitTypeView& view)
{
    return request.sites.empty() || std::any_of(request.sites.begin(), request.sites.end(),
                                                [&](const std::string& site) { return is_center(view, site); });
}

bool has_memory(const UnitRequest& units, const UnitTypeFacts& facts)
{
    return facts.memory_bytes_per_unit >= units.memory_bytes && facts.gpu_memory_bytes >= units.gpu_memory.all_bytes();
}

bool may_run_so_long(const RouteRequest& request, const UnitTypeFacts& facts)
{
    return facts.max_wall_s == 0 || request.wall_limit_s <= facts.max_wall_s;
}

bool takes_work(const RouteRequest& request, const UnitTypeFacts& facts)
{
    return facts.takes_work || (request.is_probe && facts.is_open_to_probes);
}

std::string policy_reason(const RouteRequest& request, const UnitTypeView& view)
{
    if (has_refused(request, view)) return "has no local user for whose job it is";
    if (!is_allowed(request, view)) return "project " + request.project + " may not use this center";
    if (!request.units.center.empty() && !is_center(view, request.units.center))
        return "the job asks for center " + request.units.center;
    if (!is_type(view, request.units.type)) return "the job asks for unit type " + request.units.type;
    return view.closed_reason; // nothing of the job's: whoever asks has left the place out
}

std::string operators_reason(const RouteRequest& request, const UnitTypeView& view)
{
    std::vector<std::string> missing;
    for (const OperatorDemand& demand : request.operators) {
        if (!has_operator(view, demand.operator_id) && !contains(missing, demand.operator_id))
            missing.push_back(demand.operator_id);
    }
    return "cannot run " + join_text(missing);
}

std::string device_reason(const UnitRequest& units, const UnitTypeView& view)
{
    const UnitTypeFacts facts(view);
    if (!is_right_device(units, facts)) return "is a " + view.resource_type + ", the job asks for a " + units.device;
    if (!keeps_devices(units, facts))
        return "its agent cannot keep a whole device for one job, and the job shares none";
    if (view.isa.empty()) return "its instruction sets are not known, the job needs " + join_text(units.isa);
    std::vector<std::string> missing;
    for (const std::string& one : units.isa) {
        if (!std::binary_search(view.isa.begin(), view.isa.end(), one)) missing.push_back(one);
    }
    return "lacks " + join_text(missing);
}

std::string gpu_memory_reason(const GpuMemoryRequest& need, const UnitTypeView& view)
{
    const std::string needed = ", the job needs " + bytes_text(static_cast<double>(need.persistent_bytes)) + " and " +
                               bytes_text(static_cast<double>(need.temporary_bytes)) + " within an iteration";
    if (view.gpu_memory_bytes == 0) return "is not known to have GPU memory" + needed;
    return "has " + bytes_text(static_cast<double>(view.gpu_memory_bytes)) + " of memory a GPU" + needed;
}

std::string memory_reason(const UnitRequest& units, const UnitTypeView& view)
{
    if (view.memory_bytes_per_unit >= units.memory_bytes) return gpu_memory_reason(units.gpu_memory, view);
    const std::string needed = ", the job needs " + bytes_text(static_cast<double>(units.memory_bytes));
    if (view.memory_bytes_per_unit == 0) return "the memory of a unit is not known" + needed;
    return "has " + bytes_text(static_cast<double>(view.memory_bytes_per_unit)) + " a unit" + needed;
}

} // namespace

bool is_center(const UnitTypeView& view, const std::string& name_or_id)
{
    return name_or_id == view.center_name || name_or_id == view.center_id.value;
}

bool has_refused(const RouteRequest& request, const UnitTypeView& view)
{
    return contains(request.refused_by, view.center_id.value);
}

std::string_view offered_id(std::string_view operator_id)
{
    return operator_id.substr(0, operator_id.find('@'));
}

bool has_operator(const UnitTypeView& view, const std::string& operator_id)
{
    return std::binary_search(view.operators.begin(), view.operators.end(), offered_id(operator_id), std::less<>());
}

std::optional<Filter> removing_filter(const RouteRequest& request, const UnitTypeView& view)
{
    return removing_filter(request, view, UnitTypeFacts(view), has_all_operators(request, view));
}

std::optional<Filter> removing_filter(const RouteRequest& request, const UnitTypeView& view, const UnitTypeFacts& facts,
                                      bool runs_operators)
{
    // Most requests ask for nothing that only the view tells: it is not read then.
    const UnitRequest& units = request.units;
    if (!is_allowed(request, view) || !is_named_by(units, view)) return Filter::kPolicy;
    if (!runs_operators) return Filter::kOperators;
    if (!is_right_device(units, facts) || !keeps_devices(units, facts) || !has_instructions(units, view))
        return Filter::kDevice;
    if (!has_memory(units, facts)) return Filter::kMemory;
    if (facts.least_count_for(units) > facts.unit_count) return Filter::kUnitCount;
    if (!has_software(request, view)) return Filter::kSoftware;
    if (!is_at_site(request, view)) return Filter::kDataSite;
    if (!may_run_so_long(request, facts)) return Filter::kWallLimit;
    if (!takes_work(request, facts)) return facts.closed_by;
    return std::nullopt;
}

bool asks_facts_only(const RouteRequest& request)
{
    const UnitRequest& units = request.units;
    return request.project_centers.empty() && request.refused_by.empty() && units.center.empty() &&
           units.type == "any" && units.isa.empty() && request.software == SoftwareKinds() && request.sites.empty();
}

std::string filter_reason(const RouteRequest& request, const UnitTypeView& view, Filter filter)
{
    switch (filter) {
    case Filter::kPolicy:
        return policy_reason(request, view);
    case Filter::kOperators:
        return operators_reason(request, view);
    case Filter::kDevice:
        return device_reason(request.units, view);
    case Filter::kMemory:
        return memory_reason(request.units, view);
    case Filter::kUnitCount:
        return "has " + units_text(view.unit_count) + ", the job needs " +
               std::to_string(view.least_count_for(request.units)) +
               (view.count_for(request.units, 1) > 1 ? " on whole devices, since it shares none" : "");
    case Filter::kSoftware:
        return "its center has not all of the " + to_string(request.software) + " that the job needs";
    case Filter::kDataSite:
        return "the job's data may only be at " + join_text(request.sites);
    case Filter::kWallLimit:
        return "lets a job run " + duration_text(static_cast<double>(view.max_wall_s)) +
               " at most, this one may run longer";
    case Filter::kQuota:
        return "would take more than project " + request.project + " may have in all";
    case Filter::kDrain:
    case Filter::kHealth:
        return view.closed_reason.empty() ? "its units are closed or taken for good" : view.closed_reason;
    case Filter::kDeadline:
        return "would end after the deadline";
    case Filter::kBudget:
        return "would cost more than the budget";
    case Filter::kSpeedup: // its figures: core/decide/routing/device_ruling
        return "the GPU's speed-up speaks for the other device of its center";
    }
    return {};
}

} // namespace fathom
