#include "core/decide/routing/route_inputs_fields.hpp"
#include "core/decide/routing/route_inputs_learned.hpp"

#include <algorithm>

namespace fathom {
namespace {

std::vector<std::string> sorted(std::vector<std::string> texts)
{
    std::sort(texts.begin(), texts.end());
    return texts;
}

using namespace route_inputs;

Availability read_availability(ObjectReader& unit_type, std::string_view name, Errors& errors)
{
    std::vector<Availability::Step> steps;
    for_each_item(unit_type, name, kMaxSteps, [&](const Json& item, const std::string& path) {
        const auto row = read_row<2>(item, path, errors);
        if (!row) return;
        const bool is_later = steps.empty() ? (*row)[0] == 0 : (*row)[0] > steps.back().from_s;
        if (!is_later) errors.push_back({path, "must begin at 0, and each step after the one before"});
        steps.push_back({(*row)[0], static_cast<std::int64_t>(std::clamp((*row)[1], -1e12, 1e12))});
    });
    if (steps.empty()) steps.push_back({});
    return Availability::from(std::move(steps));
}

Hold read_hold(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    Hold hold;
    hold.project = text(reader, "project");
    hold.from_s = reader.required_number("from_s", -kMax, kMax);
    hold.to_s = reader.optional_number("to_s", -kMax, kMax).value_or(Availability::kForEver);
    hold.unit_count = reader.required_integer("unit_count", 0, kMaxUnits);
    reader.finish(UnknownFields::kReject);
    return hold;
}

Closure read_closure(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    Closure closure;
    closure.from_s = reader.required_number("from_s", -kMax, kMax);
    closure.to_s = reader.optional_number("to_s", -kMax, kMax).value_or(Availability::kForEver);
    reader.finish(UnknownFields::kReject);
    return closure;
}

void read_speedup(const Json& json, const std::string& path, UnitSpeedups& speedups, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    const std::string operator_id = text(reader, "operator_id");
    const std::string parameters_key = text(reader, "parameters_key");
    const double work = number(reader, "work");
    std::vector<ScalingPoint> points;
    for_each_item(reader, "points", kMaxRows, [&](const Json& item, const std::string& at) {
        if (const auto row = read_row<2>(item, at, errors)) points.push_back({(*row)[0], (*row)[1]});
    });
    reader.finish(UnknownFields::kReject);
    const bool are_counts = std::all_of(points.begin(), points.end(), [](const ScalingPoint& point) {
        return point.unit_count >= 1 && point.unit_count <= 1e6 && point.rate > 0;
    });
    const Result<ScalingCurve> curve = are_counts ? fit_scaling(points, ScalingMode::kStrong)
                                                  : Error{Errc::kInvalid, "counts and rates must be positive"};
    if (!curve) {
        errors.push_back({reader.path_of("points"), curve.error().detail});
        return;
    }
    speedups.push_back(std::make_shared<OperatorSpeedup>(operator_id, parameters_key, work, *curve));
}

void read_points(ObjectReader& reader, std::string_view name, std::vector<CopiesPoint>& points, Errors& errors)
{
    for_each_item(reader, name, kMaxRows, [&](const Json& item, const std::string& at) {
        const auto row = read_row<5>(item, at, errors);
        if (!row) return;
        const auto [copies, busy_cores, log_factor, deviation, run_count] = *row;
        const double least = points.empty() ? 0 : points.back().busy_cores;
        const bool is_good = copies >= 2 && copies <= 1e6 && busy_cores > least && busy_cores <= kMax &&
                             log_factor >= 0 && log_factor <= kMax && deviation >= 0 && deviation <= kMax &&
                             run_count >= 1 && run_count <= 1e6;
        if (!is_good) {
            errors.push_back({at, "must be copies, their load, which grows, ln(factor), its deviation and runs"});
            return;
        }
        points.push_back({static_cast<std::int64_t>(copies), busy_cores, log_factor, deviation,
                          static_cast<std::int64_t>(run_count)});
    });
}

/// Of the pressure that an operator makes: one row, or none.
std::optional<Pressure> read_pressure(ObjectReader& reader, Errors& errors)
{
    std::optional<Pressure> pressure;
    for_each_item(reader, "pressure", 1, [&](const Json& item, const std::string& at) {
        const auto row = read_row<3>(item, at, errors);
        if (!row) return;
        const auto [per_core, deviation, run_count] = *row;
        const bool is_good = per_core >= 0 && per_core <= kMaxPressure && deviation >= 0 && deviation <= kMax &&
                             run_count >= 1 && run_count <= 1e6;
        if (is_good)
            pressure = {per_core, deviation, static_cast<std::int64_t>(run_count)};
        else
            errors.push_back({at, "must be bubbles per core, from 0 to 2, their deviation and runs"});
    });
    return pressure;
}

/// Of those who hold units: one row, or none.
HeldMemory read_held_memory(ObjectReader& reader, Errors& errors)
{
    HeldMemory held;
    for_each_item(reader, "held_memory", 1, [&](const Json& item, const std::string& at) {
        const auto row = read_row<3>(item, at, errors);
        if (!row) return;
        const auto [units, pressure, sensitivity] = *row;
        const auto is_sum = [](double value) { return value >= 0 && value <= kMax; };
        if (is_sum(units) && is_sum(pressure) && is_sum(sensitivity))
            held = {units, pressure, sensitivity};
        else
            errors.push_back({at, "must be units, and sums of their pressures and sensitivities"});
    });
    return held;
}

OtherCores read_other_cores(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    OtherCores cores;
    cores.count = reader.required_integer("count", 0, kMaxUnits);
    cores.free = read_availability(reader, "free", errors);
    cores.memory = read_held_memory(reader, errors);
    reader.finish(UnknownFields::kReject);
    return cores;
}

void read_load(const Json& json, const std::string& path, UnitLoads& loads, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorLoad load;
    load.operator_id = text(reader, "operator_id");
    LoadCurve& curve = load.curve;
    curve.slope = number(reader, "slope");
    curve.deviation = number(reader, "deviation");
    curve.largest_busy_cores = number(reader, "largest_busy_cores");
    curve.result_count = reader.required_integer("result_count", 0, kMaxUnits);
    read_points(reader, "copies", curve.copies, errors);
    read_points(reader, "bubbles", curve.bubbles, errors);
    curve.pressure = read_pressure(reader, errors);
    reader.finish(UnknownFields::kReject);
    if (!loads.empty() && load.operator_id <= loads.back().operator_id)
        errors.push_back({path, "operators must be in order, each once"});
    loads.push_back(std::move(load));
}

template <std::size_t Count>
void read_hours(ObjectReader& network, std::string_view name, std::array<HourOfWeek, Count>& hours, Errors& errors)
{
    for_each_item(network, name, Count, [&](const Json& item, const std::string& path) {
        const auto row = read_row<4>(item, path, errors);
        if (!row) return;
        const auto [index, count, median_bytes, spread] = *row;
        if (!(index >= 0 && index < Count && count >= 1 && count < 1e15 && median_bytes > 0))
            errors.push_back({path, "must be [hour, samples, bytes per second, spread]"});
        else
            hours[static_cast<std::size_t>(index)] = {static_cast<std::int64_t>(count), median_bytes, spread};
    });
}

NetworkProfile read_network(const Json& json, const std::string& path, Errors& errors)
{
    constexpr std::int64_t kMaxHour = 3'600'000'000;
    ObjectReader reader(json, path, errors);
    NetworkProfile::Known known{};
    known.calendar.hour = Timestamp::duration(reader.required_integer("hour_us", 1, kMaxHour));
    read_hours(reader, "hours", known.hours, errors);
    read_hours(reader, "days", known.days, errors);
    std::array<HourOfWeek, 1> overall{};
    read_hours(reader, "overall", overall, errors);
    known.overall = overall[0];
    reader.finish(UnknownFields::kReject);
    if (known.calendar.hour <= Timestamp::duration::zero()) known.calendar = {};
    return NetworkProfile::from(known);
}

/// One hour of the week at a price of its own.
PriceBand band_of(std::size_t hour_of_week, std::int64_t micros)
{
    const auto hour = static_cast<int>(hour_of_week);
    return {.days = {hour / 24}, .from_hour = hour % 24, .to_hour = hour % 24 + 1, .per_unit_hour_micros = micros};
}

UnitPrice read_price(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    PriceEntry entry;
    entry.unit_power_w = number(reader, "unit_power_w");
    const Json* hours = reader.any("per_unit_hour_micros");
    const auto is_price = [](const Json& one) { return one.is_number_integer() && one.get<std::int64_t>() >= 0; };
    if (hours != nullptr && is_price(*hours)) {
        entry.per_unit_hour_micros = hours->get<std::int64_t>();
    } else if (hours != nullptr && hours->is_array() && hours->size() == 168 &&
               std::all_of(hours->begin(), hours->end(), is_price)) {
        for (std::size_t i = 0; i < hours->size(); ++i)
            entry.bands.push_back(band_of(i, (*hours)[i].get<std::int64_t>()));
    } else {
        reader.fail("per_unit_hour_micros", "must be a whole number, or a list of 168, one for each hour of the week");
    }
    reader.finish(UnknownFields::kReject);
    return UnitPrice(entry);
}

void read_shape(ObjectReader& reader, UnitTypeView& view)
{
    view.id.value = text(reader, "id");
    view.name = text(reader, "name");
    view.center_id.value = text(reader, "center_id");
    view.center_name = text(reader, "center");
    view.resource_type = text(reader, "resource_type");
    view.operators = sorted(reader.strings("operators", kMaxRows, {}));
    view.isa = sorted(reader.strings("isa", kMaxRows, {}));
    view.unit_count = reader.required_integer("unit_count", 0, kMaxUnits);
    view.cores_per_unit = reader.required_integer("cores_per_unit", 0, kMaxUnits);
    view.memory_bytes_per_unit =
        reader.required_integer("memory_bytes_per_unit", 0, std::numeric_limits<std::int64_t>::max());
    view.gpu_memory_bytes = // older inputs knew none
        reader.optional_integer("gpu_memory_bytes", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    view.max_wall_s = reader.optional_integer("max_wall_s", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
    view.software = {.modules = reader.optional_boolean("has_modules").value_or(false),
                     .containers = reader.optional_boolean("has_containers").value_or(false)};
    view.units_per_device = reader.optional_integer("units_per_device", 0, kMaxUnits).value_or(1);
    view.closed_reason = reader.optional_string("closed_reason", {}).value_or("");
    if (const auto filter = reader.optional_string("closed_by", {})) {
        const std::optional<Filter> parsed = parse_filter(*filter);
        if (!parsed) reader.fail("closed_by", "must be the name of a filter");
        view.closed_by = parsed.value_or(view.closed_by);
    }
    view.is_open_to_probes = reader.optional_boolean("is_open_to_probes").value_or(false);
    view.queued_s = number(reader, "queued_s");
    view.bus_gb = number(reader, "bus_gb");
    view.nodes.between_hosts_gb = reader.optional_number("between_hosts_gb", 0, kMax).value_or(0);
    view.score = number(reader, "score");
    view.trust_factor = reader.required_number("trust_factor", 1e-9, 1);
}

UnitTypeView read_unit_type(const Json& json, const std::string& path, const RouteRequest& request, Learned& learned,
                            Errors& errors)
{
    ObjectReader reader(json, path, errors);
    UnitTypeView view;
    read_shape(reader, view);
    view.nodes.compression = read_compression(reader, errors);
    view.availability = read_availability(reader, "availability", errors);
    if (view.units_per_device > 1) view.whole_devices = read_availability(reader, "whole_devices", errors);
    view.gpu_rooms = read_gpu_rooms(reader, "gpu_rooms", errors);
    view.expected_gpu_rooms = read_gpu_rooms(reader, "expected_gpu_rooms", errors); // older inputs have none
    for_each_item(reader, "holds", kMaxRows,
                  [&](const Json& item, const std::string& at) { view.holds.push_back(read_hold(item, at, errors)); });
    for_each_item(reader, "closures", kMaxRows, [&](const Json& item, const std::string& at) {
        view.closures.push_back(read_closure(item, at, errors));
    });
    for_each_item(reader, "measured", kMaxRows, [&](const Json& item, const std::string& at) {
        view.measured.push_back(read_measured(item, at, errors));
    });
    for_each_item(reader, "one_core", kMaxRows, [&](const Json& item, const std::string& at) {
        view.one_core.push_back(read_measured(item, at, errors));
    });
    UnitSpeedups speedups;
    for_each_item(reader, "speedups", kMaxRows,
                  [&](const Json& item, const std::string& at) { read_speedup(item, at, speedups, errors); });
    if (!speedups.empty()) view.speedups = std::make_shared<UnitSpeedups>(std::move(speedups));
    UnitLoads loads;
    for_each_item(reader, "loads", kMaxRows,
                  [&](const Json& item, const std::string& at) { read_load(item, at, loads, errors); });
    if (!loads.empty()) view.loads = std::make_shared<UnitLoads>(std::move(loads));
    view.held_memory = read_held_memory(reader, errors);
    if (const Json* cores = reader.object("other_cores"))
        view.other_cores = read_other_cores(*cores, reader.path_of("other_cores"), errors);
    if (const Json* network = reader.object("network"))
        view.network = std::make_shared<NetworkProfile>(read_network(*network, reader.path_of("network"), errors));
    if (const Json* price = reader.object("price"))
        view.price = std::make_shared<UnitPrice>(read_price(*price, reader.path_of("price"), errors));
    read_learned(reader, {request.job_type, view.id.value}, learned, errors);
    reader.finish(UnknownFields::kReject);
    return view;
}

} // namespace

Result<RouteInputs> parse_route_inputs(const Json& json)
{
    Errors errors;
    ObjectReader reader(json, "", errors);
    RouteInputs inputs;
    if (const Json* request = reader.object("request"))
        inputs.request = read_request(*request, errors);
    else if (!reader.has("request"))
        reader.fail("request", "is missing");
    Learned learned;
    for_each_item(reader, "unit_types", kMaxUnitTypes, [&](const Json& item, const std::string& path) {
        inputs.unit_types.push_back(read_unit_type(item, path, inputs.request, learned, errors));
    });
    reader.finish(UnknownFields::kReject);
    inputs.knowledge = knowledge_of(std::move(learned));
    return value_or_errors(std::move(inputs), std::move(errors), "the decision's inputs");
}

} // namespace fathom
