#include "core/schedule/unit_types_document.hpp"

#include "core/schedule/cycle_fields.hpp"
#include "core/schedule/document_head.hpp"
#include "core/schedule/filter_number.hpp"

#include <algorithm>
#include <memory>

namespace fathom {
namespace {

using cycle::fields;

// As cycle::all_fields.
[[maybe_unused]] void know(const UnitTypeView& view)
{
    [[maybe_unused]] const auto& [n1, n2] = view.nodes;
    [[maybe_unused]] const auto& [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                                  f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36,
                                  f37, f38] =
        view; // what is known of GPUs' tenants and rooms, held_memory, other_cores: CycleMoment
}
/// So many unit types share a part: fewer are written anew where one of them is measured.
constexpr std::size_t kUnitTypesOfPart = 16;

/// An hour of the week at a price of its own.
PriceBand band_of(std::size_t hour_of_week, std::int64_t micros)
{
    const auto hour = static_cast<int>(hour_of_week);
    return {.days = {hour / 24}, .from_hour = hour % 24, .to_hour = hour % 24 + 1, .per_unit_hour_micros = micros};
}

template <class Archive>
void price_fields(Archive& archive, std::vector<std::int64_t>& per_hour, double& unit_power_w)
{
    list_fields(archive, per_hour, [&](auto& micros) { archive.integer(micros, 0, std::int64_t{1} << 52); });
    archive.expect(per_hour.size() == 1 || per_hour.size() == 168, "a week has 168 hours");
    archive.real(unit_power_w, NumberRange::kAmount);
}

void write_price(ByteWriter& writer, const UnitPrice& price)
{
    std::vector<std::int64_t> per_hour;
    for (const double amount : price.per_hour())
        per_hour.push_back(to_micros(amount));
    if (price.is_flat()) per_hour.resize(1);
    double unit_power_w = price.unit_power_w();
    price_fields(writer, per_hour, unit_power_w);
}

std::shared_ptr<const UnitPrice> read_price(ByteReader& reader)
{
    std::vector<std::int64_t> per_hour;
    PriceEntry entry;
    price_fields(reader, per_hour, entry.unit_power_w);
    if (per_hour.size() == 1) entry.per_unit_hour_micros = per_hour.front();
    for (std::size_t i = 0; per_hour.size() > 1 && i < per_hour.size(); ++i)
        entry.bands.push_back(band_of(i, per_hour[i]));
    return std::make_shared<const UnitPrice>(entry);
}

std::shared_ptr<const NetworkProfile> read_network(ByteReader& reader)
{
    NetworkProfile::Known known{};
    fields(reader, known);
    return std::make_shared<const NetworkProfile>(NetworkProfile::from(known));
}

void write_speedups(ByteWriter& writer, const UnitSpeedups& speedups)
{
    list_fields(writer, speedups, [&](const std::shared_ptr<const OperatorSpeedup>& one) {
        writer.text(one->operator_id());
        writer.text(one->parameters_key());
        writer.real(one->work());
        list_fields(writer, one->points(), [&](const ScalingPoint& point) {
            writer.real(point.unit_count);
            writer.real(point.rate);
        });
    });
}

/// Of equal points comes an equal curve.
std::shared_ptr<const OperatorSpeedup> read_speedup(ByteReader& reader)
{
    std::string operator_id;
    std::string parameters_key;
    double work = 0;
    std::vector<ScalingPoint> points;
    reader.text(operator_id);
    reader.text(parameters_key);
    reader.real(work, NumberRange::kAmount);
    list_fields(reader, points, [&](ScalingPoint& point) {
        reader.real(point.unit_count);
        reader.real(point.rate);
        reader.expect(point.unit_count >= 1 && point.unit_count <= 1e6 && point.rate > 0, "a curve's point is none");
    });
    reader.expect(work > 0 && points.size() >= 2 && points.size() <= 1000, "a curve is none");
    if (!reader.is_good()) return nullptr;
    const Result<ScalingCurve> curve = fit_scaling(points, ScalingMode::kStrong);
    if (!curve) {
        reader.fail("a curve cannot be fitted");
        return nullptr;
    }
    return std::make_shared<const OperatorSpeedup>(operator_id, parameters_key, work, *curve);
}

std::shared_ptr<const UnitSpeedups> read_speedups(ByteReader& reader)
{
    UnitSpeedups speedups;
    list_fields(reader, speedups, [&](std::shared_ptr<const OperatorSpeedup>& one) { one = read_speedup(reader); });
    return std::make_shared<const UnitSpeedups>(std::move(speedups));
}

/// The first version whose unit types know what neighbours cost.
constexpr std::uint64_t kNeighboursVersion = 12;

template <class Archive, class Points>
void points_fields(Archive& archive, Points& points)
{
    double busy_cores = 0;
    list_fields(archive, points, [&](auto& point) {
        archive.integer(point.copies);
        archive.real(point.busy_cores, NumberRange::kAmount);
        archive.real(point.log_factor, NumberRange::kAmount);
        archive.real(point.deviation, NumberRange::kAmount);
        archive.integer(point.run_count);
        archive.expect(point.busy_cores > busy_cores, "loads of copies are not in order");
        busy_cores = point.busy_cores;
    });
}

template <class Archive, FieldsOf<LoadCurve> T>
void curve_fields(Archive& archive, T& curve)
{
    archive.real(curve.slope, NumberRange::kAmount);
    archive.real(curve.deviation, NumberRange::kAmount);
    archive.real(curve.largest_busy_cores, NumberRange::kAmount);
    archive.integer(curve.result_count);
    points_fields(archive, curve.copies);
    if (archive.version() < cycle::kMemoryUseVersion) return;
    points_fields(archive, curve.bubbles);
    optional_fields(archive, curve.pressure, [&](auto& pressure) {
        archive.real(pressure.per_core, NumberRange::kAmount);
        archive.real(pressure.deviation, NumberRange::kAmount);
        archive.integer(pressure.run_count);
    });
}

template <class Archive, FieldsOf<UnitLoads> T>
void loads_fields(Archive& archive, T& loads)
{
    list_fields(archive, loads, [&](auto& one) {
        archive.text(one.operator_id);
        curve_fields(archive, one.curve);
    });
    archive.expect(
        std::is_sorted(loads.begin(), loads.end(),
                       [](const OperatorLoad& a, const OperatorLoad& b) { return a.operator_id < b.operator_id; }),
        "operators are not in order");
}

std::shared_ptr<const UnitLoads> read_loads(ByteReader& reader)
{
    UnitLoads loads;
    loads_fields(reader, loads);
    return std::make_shared<const UnitLoads>(std::move(loads));
}

/// What parts' unit types point at.
struct SharedOfViews {
    SharedFields<UnitPrice> prices;
    SharedFields<NetworkProfile> networks;
    SharedFields<UnitSpeedups> speedups;
    SharedFields<UnitLoads> loads;
};

template <class Archive, FieldsOf<UnitTypeView> T>
void shared_fields(Archive& archive, T& view, SharedOfViews& shared)
{
    if constexpr (Archive::kReads) {
        shared.prices(archive, view.price, [&] { return read_price(archive); });
        shared.networks(archive, view.network, [&] { return read_network(archive); });
        shared.speedups(archive, view.speedups, [&] { return read_speedups(archive); });
        if (archive.version() >= kNeighboursVersion)
            shared.loads(archive, view.loads, [&] { return read_loads(archive); });
    } else {
        shared.prices(archive, view.price, [&](const UnitPrice& price) { write_price(archive, price); });
        shared.networks(archive, view.network, [&](const NetworkProfile& network) {
            const NetworkProfile::Known known = network.known();
            fields(archive, known);
        });
        shared.speedups(archive, view.speedups, [&](const UnitSpeedups& one) { write_speedups(archive, one); });
        shared.loads(archive, view.loads, [&](const UnitLoads& one) { loads_fields(archive, one); });
    }
}

template <class Archive, FieldsOf<Availability> T>
void availability_fields(Archive& archive, T& availability)
{
    std::vector<Availability::Step> steps;
    if constexpr (!Archive::kReads) steps = availability.steps();
    list_fields(archive, steps, [&](auto& step) {
        archive.real(step.from_s, NumberRange::kAmount);
        archive.integer(step.free, -cycle::kMaxUnits);
    });
    if constexpr (Archive::kReads) {
        bool is_ordered = !steps.empty() && steps.front().from_s == 0;
        for (std::size_t i = 1; i < steps.size(); ++i)
            is_ordered = is_ordered && steps[i - 1].from_s < steps[i].from_s;
        archive.expect(is_ordered, "what is free is not in order of time");
        if (archive.is_good()) availability = Availability::from(std::move(steps));
    }
}

template <class Archive, FieldsOf<NodeTransfers> T>
void node_fields(Archive& archive, T& nodes)
{
    archive.real(nodes.between_hosts_gb, NumberRange::kAmount);
    optional_fields(archive, nodes.compression, [&](auto& compression) {
        archive.real(compression.fraction, NumberRange::kAmount);
        archive.real(compression.speed_gb, NumberRange::kAmount);
        archive.expect(compression.fraction > 0 && compression.fraction <= 1 && compression.speed_gb > 0,
                       "compression is none");
    });
}

template <class Archive, FieldsOf<UnitTypeView> T>
void view_fields(Archive& archive, T& view, SharedOfViews& shared)
{
    archive.text(view.id.value);
    archive.text(view.name);
    archive.text(view.center_id.value);
    archive.text(view.center_name);
    archive.text(view.resource_type);
    for (auto* texts : {&view.operators, &view.isa})
        cycle::shared_list_fields(archive, *texts, [&](auto& text) { archive.text(text); });
    archive.expect(std::is_sorted(view.operators.begin(), view.operators.end()) &&
                       std::is_sorted(view.isa.begin(), view.isa.end()),
                   "names are not in order");
    archive.integer(view.unit_count);
    archive.integer(view.cores_per_unit);
    archive.integer(view.memory_bytes_per_unit, 0, cycle::kAll);
    if (archive.version() >= 3) archive.integer(view.gpu_memory_bytes, 0, cycle::kAll);
    if (archive.version() >= 5) archive.integer(view.max_wall_s, 0, cycle::kAll);
    if (archive.version() >= 12) fields(archive, view.software);
    if (archive.version() >= cycle::kMemoryUseVersion) archive.text(view.host);
    availability_fields(archive, view.availability);
    if (archive.version() >= 4) {
        archive.integer(view.units_per_device);
        optional_fields(archive, view.whole_devices, [&](auto& whole) { availability_fields(archive, whole); });
        archive.expect(view.whole_devices.has_value() == (view.units_per_device > 1),
                       "what is free of whole devices is missing, or there are none");
    }
    list_fields(archive, view.holds, [&](auto& hold) { fields(archive, hold); });
    list_fields(archive, view.closures, [&](auto& closure) { fields(archive, closure); });
    archive.real(view.bus_gb, NumberRange::kAmount);
    if (archive.version() >= cycle::kNodeTransfersVersion) node_fields(archive, view.nodes);
    for (auto* measurements : {&view.measured, &view.one_core})
        cycle::shared_list_fields(archive, *measurements, [&](auto& measured) { fields(archive, measured); });
    shared_fields(archive, view, shared);
}

/// What changes from hour to hour.
template <class Archive, FieldsOf<UnitTypeView> T>
void state_fields(Archive& archive, T& view)
{
    archive.text(view.closed_reason);
    std::uint64_t closed_by = written_number(view.closed_by);
    archive.number(closed_by);
    archive.expect(closed_by < kFilterCount, "there is no such filter");
    if constexpr (Archive::kReads) {
        if (closed_by < kFilterCount) view.closed_by = written_filter(static_cast<std::uint8_t>(closed_by));
    }
    archive.flag(view.is_open_to_probes);
    archive.real(view.queued_s, NumberRange::kAmount);
    archive.real(view.score, NumberRange::kAmount);
    archive.real(view.trust_factor, NumberRange::kAmount);
    archive.expect(view.trust_factor > 0 && view.trust_factor <= 1, "trust is not above 0 and at most 1");
}

} // namespace

void write_unit_types(std::span<const UnitTypeView> unit_types, const std::function<void(std::string)>& keep)
{
    for (std::size_t first = 0; first < unit_types.size(); first += kUnitTypesOfPart) {
        ByteWriter writer;
        head_fields(writer, DocumentKind::kUnitTypes);
        SharedOfViews shared;
        const auto part = unit_types.subspan(first, std::min(kUnitTypesOfPart, unit_types.size() - first));
        list_fields(writer, part, [&](const UnitTypeView& view) { view_fields(writer, view, shared); });
        keep(writer.take());
    }
    ByteWriter states;
    head_fields(states, DocumentKind::kStates);
    for (const UnitTypeView& view : unit_types)
        state_fields(states, view);
    keep(states.take());
}

void read_unit_types(ByteReader& reader, std::vector<UnitTypeView>& unit_types)
{
    head_fields(reader, DocumentKind::kUnitTypes);
    SharedOfViews shared;
    std::vector<UnitTypeView> views;
    list_fields(reader, views, [&](UnitTypeView& view) { view_fields(reader, view, shared); });
    for (UnitTypeView& view : views) {
        reader.expect(unit_types.empty() || unit_types.back().id.value < view.id.value, "unit types are not in order");
        unit_types.push_back(std::move(view));
    }
}

void read_unit_states(ByteReader& reader, std::vector<UnitTypeView>& unit_types)
{
    head_fields(reader, DocumentKind::kStates);
    for (UnitTypeView& view : unit_types)
        state_fields(reader, view);
}

} // namespace fathom
