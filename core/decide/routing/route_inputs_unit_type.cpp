#include "core/decide/routing/route_inputs_unit_type.hpp"

#include "core/decide/routing/place.hpp"
#include "core/decide/routing/route_columns.hpp"
#include "core/decide/routing/route_inputs_request.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace fathom::route_inputs {
namespace {

constexpr std::size_t kMaxStepsWritten = 512;
Json wait_quantiles_json(const WaitQuantiles& quantiles)
{
    return {quantiles.low, quantiles.middle, quantiles.high};
}

/// Units beyond what the job may ever take do not matter to it, so that steps above are joined.
Json availability_json(const RouteRequest& request, const UnitTypeView& view, const Availability& availability)
{
    const UnitRequest& units = request.units;
    std::int64_t most = view.count_for(units, units.count.value_or(std::max(units.min, units.max)));
    for (const Hold& hold : view.holds)
        most += hold.unit_count;
    // How many are free is then also how many neighbours there are.
    if (view.loads != nullptr) most = std::max(most, view.unit_count);
    Json steps = Json::array();
    std::optional<std::int64_t> last;
    for (const Availability::Step& step : availability.steps()) {
        const std::int64_t free = std::min(step.free, most);
        if (last == free) continue;
        if (steps.size() == kMaxStepsWritten) break;
        steps.push_back({step.from_s, free});
        last = free;
    }
    return steps;
}

Json other_cores_json(const OtherCores& cores)
{
    Json free = Json::array();
    for (const Availability::Step& step : cores.free.steps()) {
        if (free.size() == kMaxStepsWritten) break;
        free.push_back({step.from_s, step.free});
    }
    Json json = {{"count", cores.count}, {"free", std::move(free)}};
    const HeldMemory& held = cores.memory;
    if (held.units > 0) json["held_memory"].push_back({held.units, held.pressure, held.sensitivity});
    return json;
}

Json holds_json(const std::vector<Hold>& holds)
{
    Json list = Json::array();
    for (const Hold& hold : holds) {
        Json json = {{"project", hold.project}, {"from_s", hold.from_s}, {"unit_count", hold.unit_count}};
        if (std::isfinite(hold.to_s)) json["to_s"] = hold.to_s;
        list.push_back(std::move(json));
    }
    return list;
}

Json closures_json(const std::vector<Closure>& closures)
{
    Json list = Json::array();
    for (const Closure& closure : closures) {
        Json json = {{"from_s", closure.from_s}};
        if (std::isfinite(closure.to_s)) json["to_s"] = closure.to_s;
        list.push_back(std::move(json));
    }
    return list;
}

/// Of a unit type's measurements the job reads those of its operators, and of all together the median start-up, and,
/// without operators, the mean speed: a stand-in carries these where nothing else would.
Json measured_json(const RouteRequest& request, const UnitTypeView& view)
{
    Json list = Json::array();
    if (view.measured.empty()) return list;
    std::vector<double> start_ups;
    for (const MeasuredOperator& one : view.measured)
        start_ups.push_back(one.start_up_s);
    const double start_up_s = median(std::move(start_ups));
    for (MeasuredOperator one : view.measured) {
        if (!is_wanted(request, one.operator_id)) continue;
        one.start_up_s = start_up_s;
        list.push_back(measured_operator_json(one));
    }
    if (!list.empty()) return list;
    MeasuredOperator all;
    all.operator_id = "-";
    all.start_up_s = start_up_s;
    if (const double speed = speed_of(view); speed > 0) {
        all.operations = speed;
        all.median_s = 1;
    }
    list.push_back(measured_operator_json(all));
    return list;
}

Json speedups_json(const RouteRequest& request, const UnitTypeView& view)
{
    Json list = Json::array();
    if (view.speedups == nullptr) return list;
    for (const std::shared_ptr<const OperatorSpeedup>& one : *view.speedups) {
        if (!is_wanted(request, one->operator_id())) continue;
        Json points = Json::array();
        for (const ScalingPoint& point : one->points())
            points.push_back({point.unit_count, point.rate});
        list.push_back({{"operator_id", one->operator_id()},
                        {"parameters_key", one->parameters_key()},
                        {"work", one->work()},
                        {"points", std::move(points)}});
    }
    return list;
}

Json copies_json(const std::vector<CopiesPoint>& points)
{
    Json copies = Json::array();
    for (const CopiesPoint& point : points)
        copies.push_back({point.copies, point.busy_cores, point.log_factor, point.deviation, point.run_count});
    return copies;
}

Json loads_json(const RouteRequest& request, const UnitTypeView& view)
{
    Json list = Json::array();
    for (const OperatorLoad& one : *view.loads) {
        if (!is_wanted(request, one.operator_id)) continue;
        list.push_back({{"operator_id", one.operator_id},
                        {"slope", one.curve.slope},
                        {"deviation", one.curve.deviation},
                        {"largest_busy_cores", one.curve.largest_busy_cores},
                        {"result_count", one.curve.result_count},
                        {"copies", copies_json(one.curve.copies)}});
        if (!one.curve.bubbles.empty()) list.back()["bubbles"] = copies_json(one.curve.bubbles);
        if (const auto& pressure = one.curve.pressure)
            list.back()["pressure"].push_back({pressure->per_core, pressure->deviation, pressure->run_count});
    }
    return list;
}

template <std::size_t Count>
Json hours_json(const std::array<HourOfWeek, Count>& hours)
{
    Json list = Json::array();
    for (std::size_t i = 0; i < Count; ++i) {
        if (hours[i].count > 0) list.push_back({i, hours[i].count, hours[i].median_bytes, hours[i].spread});
    }
    return list;
}

Json network_json(const RouteRequest& /*request*/, const UnitTypeView& view)
{
    const NetworkProfile::Known known = view.network->known();
    return {{"hour_us", known.calendar.hour.count()},
            {"hours", hours_json(known.hours)},
            {"days", hours_json(known.days)},
            {"overall", hours_json(std::array{known.overall})}};
}

Json price_json(const RouteRequest& /*request*/, const UnitTypeView& view)
{
    const UnitPrice& price = *view.price;
    Json per_hour = Json::array();
    for (const double amount : price.per_hour())
        per_hour.push_back(to_micros(amount));
    return {{"per_unit_hour_micros", price.is_flat() ? Json(per_hour[0]) : std::move(per_hour)},
            {"unit_power_w", price.unit_power_w()}};
}

Json one_core_json(const RouteRequest& request, const UnitTypeView& view)
{
    return wanted_json(request, view.one_core);
}

/// @param decided  the correction that the decision was made by; nullptr where it came to none.
Json run_json(const RunHistory& runs, const RouteRequest& request, const std::string& unit_type,
              const RunCorrection* decided)
{
    const RunCorrection correction =
        decided != nullptr ? *decided : runs.correction(request.job_type, unit_type, request.run_owner());
    Json json = {{"factor", correction.factor},         {"deviation", correction.deviation},
                 {"raw_share", correction.raw_share},   {"own_share", correction.own_share},
                 {"knows_type", correction.knows_type}, {"job_count", correction.job_count},
                 {"like_count", correction.like_count}, {"width_factor", correction.width_factor}};
    if (correction.known_factor != 1) json["known_factor"] = correction.known_factor;
    const std::optional<RunEstimate> estimate =
        runs.estimate(request.job_type, unit_type, request.run_owner(), asked_time_of(request, &runs));
    if (estimate)
        json["estimate"] = {{"run_s", estimate->time.run_s},
                            {"low_s", estimate->time.low_s},
                            {"high_s", estimate->time.high_s},
                            {"basis", estimate->basis},
                            {"job_count", estimate->job_count}};
    return json;
}

Json estimates_json(const RouteRequest& request, const OperatorEstimates& estimates, const std::string& unit_type)
{
    Json list = Json::array();
    std::set<std::pair<std::string, std::string>> seen;
    for (const OperatorDemand& demand : request.parts()) {
        if (!seen.emplace(demand.operator_id, demand.parameters_key).second) continue;
        const auto found = estimates.find(demand.operator_id, demand.parameters_key, unit_type);
        if (!found) continue;
        list.push_back({{"operator_id", demand.operator_id},
                        {"parameters_key", demand.parameters_key},
                        {"execution_s", found->execution_s},
                        {"deviation", found->deviation},
                        {"like_count", found->like_count}});
    }
    return list;
}

void add_gpu_rooms(Json& json, const char* name, const std::vector<GpuRoom>& rooms)
{
    for (const GpuRoom& room : rooms)
        json[name].push_back({room.capacity_bytes, room.persistent_bytes, room.temporary_bytes, room.gap_bytes});
}

/// What only some unit types have.
void add_unusual(Json& json, const RouteRequest& request, const UnitTypeView& view)
{
    add_gpu_rooms(json, "gpu_rooms", view.gpu_rooms);
    if (view.expected_gpu_rooms != view.gpu_rooms) add_gpu_rooms(json, "expected_gpu_rooms", view.expected_gpu_rooms);
    if (view.software.modules) json["has_modules"] = true;
    if (view.software.containers) json["has_containers"] = true;
    if (view.units_per_device != 1) json["units_per_device"] = view.units_per_device;
    if (view.whole_devices) json["whole_devices"] = availability_json(request, view, *view.whole_devices);
    if (!view.closed_reason.empty()) {
        json["closed_reason"] = view.closed_reason;
        json["closed_by"] = to_string(view.closed_by);
        json["is_open_to_probes"] = view.is_open_to_probes;
    }
}

} // namespace

Json own_members(const RouteRequest& request, const UnitTypeView& view, const RouteKnowledge& knowledge,
                 const RunCorrection* decided)
{
    std::vector<std::string> operators;
    std::copy_if(view.operators.begin(), view.operators.end(), std::back_inserter(operators),
                 [&](const std::string& id) { return is_wanted(request, id); });
    Json json = {{"id", view.id.value},
                 {"name", view.name},
                 {"center_id", view.center_id.value},
                 {"center", view.center_name},
                 {"resource_type", view.resource_type},
                 {"operators", std::move(operators)},
                 {"isa", std::vector<std::string>(view.isa.begin(), view.isa.end())},
                 {"unit_count", view.unit_count},
                 {"cores_per_unit", view.cores_per_unit},
                 {"memory_bytes_per_unit", view.memory_bytes_per_unit},
                 {"gpu_memory_bytes", view.gpu_memory_bytes},
                 {"max_wall_s", view.max_wall_s},
                 {"availability", availability_json(request, view, view.availability)},
                 {"holds", holds_json(view.holds)},
                 {"closures", closures_json(view.closures)},
                 {"bus_gb", view.bus_gb},
                 {"queued_s", view.queued_s},
                 {"score", view.score},
                 {"trust_factor", view.trust_factor}};
    add_unusual(json, request, view);
    if (view.nodes.between_hosts_gb > 0) json["between_hosts_gb"] = view.nodes.between_hosts_gb;
    if (const std::optional<Compression>& compression = view.nodes.compression)
        json["compression"] = {{"fraction", compression->fraction}, {"speed_gb", compression->speed_gb}};
    if (view.loads != nullptr) {
        const HeldMemory& held = view.held_memory;
        if (held.units > 0) json["held_memory"].push_back({held.units, held.pressure, held.sensitivity});
        if (view.other_cores) json["other_cores"] = other_cores_json(*view.other_cores);
    }
    if (knowledge.runs != nullptr) json["run"] = run_json(*knowledge.runs, request, view.id.value, decided);
    if (knowledge.waits != nullptr) {
        const WaitModel& model = knowledge.waits->model(view.id.value);
        json["wait"] = {{"extra_s", wait_quantiles_json(model.extra_s)}, {"ratio", wait_quantiles_json(model.ratio)}};
    }
    if (knowledge.estimates != nullptr)
        json["estimates"] = estimates_json(request, *knowledge.estimates, view.id.value);
    return json;
}

std::vector<SharedMember> shared_members(const RouteRequest& request, const UnitTypeView& view)
{
    std::vector<SharedMember> members = {{"measured", view.measured.shared(), true, measured_json},
                                         {"speedups", view.speedups, true, speedups_json}};
    if (view.loads != nullptr) members.push_back({"loads", view.loads, true, loads_json});
    if (view.network != nullptr && request.transfer.moves_data())
        members.push_back({"network", view.network, false, network_json});
    if (view.price != nullptr) members.push_back({"price", view.price, false, price_json});
    if (!view.one_core.empty()) members.push_back({"one_core", view.one_core.shared(), true, one_core_json});
    return members;
}

} // namespace fathom::route_inputs
