#include "agent/catalog/unit_plan.hpp"

#include "agent/catalog/core_pool.hpp"
#include "agent/catalog/device_pool.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item)
{
    return std::find(list.begin(), list.end(), item) != list.end();
}

/// What the probe program has, cut down by the center's table and then by the unit type's own list. Unless that names
/// them, units of one processor do not offer what runs between processes.
/// @param size  processors of a unit
std::vector<std::string> operators_of(const UnitCut& cut, std::size_t size, const AgentTables& tables,
                                      const ProbeAbilities& abilities)
{
    const auto by_resource = tables.operators.find(cut.resource_type);
    std::vector<std::string> ids;
    for (const std::string& id : offered_operators(cut.resource_type, abilities)) {
        if (by_resource != tables.operators.end() && !contains(by_resource->second, id)) continue;
        if (!cut.operators.empty() && !contains(cut.operators, id)) continue;
        if (cut.operators.empty() && size < 2 && is_exchange_operator(id)) continue;
        ids.push_back(id);
    }
    return ids;
}

std::int64_t memory_share(const UnitCut& cut, std::size_t size, const Host& host)
{
    const bool counts_threads = cut.processors == ProcessorKind::kThread && host.host_threads > 0;
    const std::int64_t all = counts_threads ? host.host_threads : host.host_cores;
    return all > 0 ? host.memory_bytes / all * static_cast<std::int64_t>(size) : 0;
}

/// What the processors of a unit share with memory behind it; of units that differ the most, so that arrays that are
/// large enough for one are so for all.
Json cache_fact(const std::vector<Unit>& units, const Host& host)
{
    std::int64_t most_bytes = 0;
    for (const Unit& unit : units) {
        const std::optional<std::int64_t> bytes = last_level_cache_bytes(host.last_level_caches, unit.cpus);
        if (!bytes) return Json{{"absent", "the kernel tells no cache of a processor"}};
        most_bytes = std::max(most_bytes, *bytes);
    }
    return most_bytes;
}

/// Of a unit's devices: what it has of how many of which model.
Json device_facts(const UnitCut& cut, const Unit& unit)
{
    const HostDevice& device = unit.devices.front().device;
    Json facts = {{"model", device.model}, {"count", cut.devices_per_unit}};
    if (device.memory_bytes > 0) facts["memory_bytes"] = device.memory_bytes;
    if (cut.sharing != DeviceSharing::kNone) facts["sharing"] = to_string(cut.sharing);
    if (cut.parts_per_device > 1) facts["parts_per_device"] = cut.parts_per_device;
    return facts;
}

/// Each once, in order: what the metascheduler knows shared GPUs by.
std::set<std::string> device_ids(const std::vector<Unit>& units)
{
    std::set<std::string> ids;
    for (const Unit& unit : units) {
        for (const UnitDevice& part : unit.devices)
            ids.insert(part.device.id);
    }
    return ids;
}

/// As UnitType has it: of the first units, since all devices have as many parts.
std::int64_t units_per_device(const std::vector<Unit>& units)
{
    std::set<std::string> devices;
    std::int64_t count = 0;
    for (const Unit& unit : units) {
        const bool is_of_them = std::any_of(unit.devices.begin(), unit.devices.end(),
                                            [&](const UnitDevice& part) { return devices.contains(part.device.id); });
        if (count > 0 && !is_of_them) break;
        for (const UnitDevice& part : unit.devices)
            devices.insert(part.device.id);
        ++count;
    }
    return std::max<std::int64_t>(count, 1);
}

UnitTypeReport report_of(const UnitCut& cut, std::size_t size, const std::vector<Unit>& units, const Host& host,
                         const AgentTables& tables, const ProbeAbilities& abilities)
{
    UnitTypeReport report;
    report.name = cut.name;
    report.resource_type = cut.resource_type;
    report.unit_count = static_cast<std::int64_t>(units.size());
    report.cores_per_unit = static_cast<std::int64_t>(size);
    report.memory_bytes_per_unit = cut.memory_bytes_per_unit;
    if (report.memory_bytes_per_unit == 0) report.memory_bytes_per_unit = memory_share(cut, size, host);
    report.operators = operators_of(cut, size, tables, abilities);
    report.facts = host.processor;
    const bool has_cpus = !units.empty() && !units.front().cpus.empty();
    if (has_cpus) report.facts["last_level_cache_bytes"] = cache_fact(units, host);
    if (cut.processors == ProcessorKind::kThread) report.facts["processors"] = "threads";
    if (!cut.labels.empty()) report.facts["labels"] = cut.labels;
    if (!abilities.blas_core_type.empty()) report.facts["blas_core_type"] = abilities.blas_core_type;
    if (cut.resource_type == "cpu") {
        if (abilities.accepts_uploads) report.facts["accepts_uploads"] = true;
        return report;
    }
    if (!units.empty()) report.facts["device"] = device_facts(cut, units.front());
    const auto device = abilities.devices.find(cut.resource_type);
    if (device != abilities.devices.end()) report.facts.update(device->second.facts);
    return report;
}

/// The processors of a NUMA node that the center offers, or of all of them where the node is not known.
std::vector<std::int64_t> cpus_near(const Host& host, std::int64_t numa_node)
{
    std::vector<std::int64_t> near;
    std::vector<std::int64_t> all;
    for (const HostCore& core : host.cores) {
        all.insert(all.end(), core.cpus.begin(), core.cpus.end());
        if (core.numa_node == numa_node) near.insert(near.end(), core.cpus.begin(), core.cpus.end());
    }
    std::vector<std::int64_t>& cpus = near.empty() ? all : near;
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

std::vector<UnitCut> usual_cuts(const Host& host)
{
    const auto gpus = std::count_if(host.devices.begin(), host.devices.end(), [](const HostDevice& device) {
        return device.kind == "cuda" && !device.is_mig_part;
    });
    std::vector<UnitCut> cuts;
    if (gpus > 0 && gpus < std::ssize(host.cores)) {
        UnitCut& gpu = cuts.emplace_back();
        gpu.name = "gpu";
        gpu.resource_type = "cuda";
        gpu.devices_per_unit = 1;
    }
    cuts.emplace_back().name = "core";
    return cuts;
}

/// A type that has fewer units than its cut says.
struct Shortfall {
    std::string path{}; ///< of the cut in the config
    ResourceDifference difference;
    bool is_of_devices = false; ///< else of cores
};

/// Cuts one type after another.
class Cutter {
  public:
    explicit Cutter(const Host& host) : host_(host), cores_(host), devices_(host.devices) {}

    /// The units of a cut, as many as it says and as fit.
    /// @param path  of the cut in the config, for what is missing.
    std::vector<Unit> cut(const UnitCut& cut, const std::string& path)
    {
        size_ = cores_.unit_size(cut);
        const bool has_devices = cut.resource_type != "cpu";
        const bool has_cores = cut.numa == NumaRule::kWhole || cut.cores_per_unit > 0;
        std::size_t fitting = kNoLimit;
        if (has_cores) fitting = cores_.fitting(cut, size_);
        if (has_devices) fitting = std::min(fitting, devices_.fitting(cut));
        const std::size_t wanted = cut.unit_count == 0 ? fitting : static_cast<std::size_t>(cut.unit_count);
        if (fitting == 0 || wanted > fitting) note_shortfall(cut, path, std::max<std::size_t>(wanted, 1));

        std::vector<Unit> units(std::min(wanted, fitting));
        if (has_devices) {
            std::vector<std::vector<UnitDevice>> devices = devices_.take(cut, units.size());
            for (std::size_t i = 0; i < units.size(); ++i)
                units[i].devices = std::move(devices[i]);
        }
        for (Unit& unit : units) {
            std::optional<std::int64_t> near;
            if (!unit.devices.empty()) near = unit.devices.front().device.numa_node;
            if (has_cores)
                unit.cpus = cores_.take(cut, size_, near);
            else
                unit.host_cpus = cpus_near(host_, near.value_or(-1));
        }
        return units;
    }

    /// Cores or hardware threads of each unit of the last cut.
    std::size_t size() const { return size_; }

    /// Types of which something does not fit.
    std::vector<Shortfall> shortfalls;

  private:
    static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

    void note_shortfall(const UnitCut& cut, const std::string& path, std::size_t wanted)
    {
        const bool is_of_devices = cut.resource_type != "cpu" && devices_.fitting(cut) < wanted;
        Shortfall shortfall = is_of_devices ? too_few_devices(cut, wanted) : too_few_cores(cut, wanted);
        shortfall.is_of_devices = is_of_devices;
        const bool has_count = cut.unit_count != 0;
        shortfall.difference.unit_type = cut.name;
        shortfall.difference.field = has_count ? "unit_count" : is_of_devices ? "devices_per_unit" : "cores_per_unit";
        shortfall.path = path + "." + shortfall.difference.field;
        shortfalls.push_back(std::move(shortfall));
    }

    Shortfall too_few_devices(const UnitCut& cut, std::size_t wanted) const
    {
        const std::size_t needed = wanted * static_cast<std::size_t>(cut.devices_per_unit);
        return {.difference = {.code = "fewer_devices",
                               .wanted = static_cast<std::int64_t>(needed),
                               .seen = static_cast<std::int64_t>(devices_.left(cut)),
                               .detail = "\"" + cut.name + "\" needs " + std::to_string(needed) + " of \"" +
                                         cut.resource_type + "\", but only " + std::to_string(devices_.left(cut)) +
                                         " are left"}};
    }

    Shortfall too_few_cores(const UnitCut& cut, std::size_t wanted) const
    {
        const std::string kind = cut.processors == ProcessorKind::kThread ? " hardware threads" : " cores";
        const std::string all =
            cut.numa == NumaRule::kWhole
                ? std::to_string(wanted) + " whole NUMA nodes"
                : std::to_string(wanted * size_) + kind +
                      (cut.numa == NumaRule::kWithin ? " by " + std::to_string(size_) + " within a NUMA node" : "");
        const std::size_t left = cores_.left(cut.processors);
        return {.difference = {.code = "fewer_cores",
                               .wanted = static_cast<std::int64_t>(wanted * size_),
                               .seen = static_cast<std::int64_t>(left),
                               .detail = "\"" + cut.name + "\" needs " + all + ", but only " + std::to_string(left) +
                                         " of the offered" +
                                         (cut.processors == ProcessorKind::kThread ? " hardware threads" : " ones") +
                                         " are left"}};
    }

    const Host& host_;
    CorePool cores_;
    DevicePool devices_;
    std::size_t size_ = 0;
};

struct Cut {
    UnitPlan plan;
    std::vector<Shortfall> shortfalls; ///< those of cores first
};

Cut cut_all(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities)
{
    const std::vector<UnitCut> cuts = effective_cuts(host, tables);
    Cutter cutter(host);
    Cut result;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        std::vector<Unit> units = cutter.cut(cuts[i], "unit_type[" + std::to_string(i) + "]");
        UnitTypeReport report = report_of(cuts[i], cutter.size(), units, host, tables, abilities);
        const std::int64_t on_device = units_per_device(units);
        if (on_device > 1) report.facts["device"]["units_per_device"] = on_device;
        if (cuts[i].sharing == DeviceSharing::kTimeSlice && !units.empty())
            report.facts["device"]["ids"] = device_ids(units);
        UnitType type{std::move(report), std::move(units), cuts[i].sharing};
        type.units_per_device = on_device;
        result.plan.push_back(std::move(type));
    }
    for (const bool is_of_devices : {false, true}) {
        for (const Shortfall& shortfall : cutter.shortfalls) {
            if (shortfall.is_of_devices == is_of_devices) result.shortfalls.push_back(shortfall);
        }
    }
    return result;
}

} // namespace

const std::vector<std::string>& offered_operators(const std::string& resource_type, const ProbeAbilities& abilities)
{
    static const std::vector<std::string> none;
    if (resource_type == "cpu") return abilities.operators;
    const auto found = abilities.devices.find(resource_type);
    return found == abilities.devices.end() ? none : found->second.operators;
}

std::vector<UnitCut> effective_cuts(const Host& host, const AgentTables& tables)
{
    return tables.unit_types.empty() ? usual_cuts(host) : tables.unit_types;
}

std::vector<std::string> device_names(const Unit& unit)
{
    std::vector<std::string> names;
    names.reserve(unit.devices.size());
    for (const UnitDevice& device : unit.devices)
        names.push_back(device_name(device));
    return names;
}

CutUnits cut_what_fits(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities)
{
    Cut cut = cut_all(host, tables, abilities);
    CutUnits units{std::move(cut.plan), {}};
    for (Shortfall& shortfall : cut.shortfalls) {
        units.shortfalls.push_back({shortfall.path, shortfall.difference.detail});
        units.differences.push_back(std::move(shortfall.difference));
    }
    return units;
}

Result<UnitPlan> cut_units(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities)
{
    Cut cut = cut_all(host, tables, abilities);
    std::vector<FieldError> errors;
    for (const Shortfall& shortfall : cut.shortfalls) {
        if (!shortfall.is_of_devices) errors.push_back({shortfall.path, shortfall.difference.detail});
    }
    return value_or_errors(std::move(cut.plan), std::move(errors), "the cut of unit types");
}

std::vector<std::string> unknown_operators(const AgentTables& tables, const ProbeAbilities& abilities)
{
    std::set<std::string> unknown;
    const auto look_at = [&](const std::string& resource_type, const std::vector<std::string>& ids) {
        for (const std::string& id : ids) {
            if (!contains(offered_operators(resource_type, abilities), id)) unknown.insert(id);
        }
    };
    for (const auto& [resource_type, ids] : tables.operators)
        look_at(resource_type, ids);
    for (const UnitCut& cut : tables.unit_types)
        look_at(cut.resource_type, cut.operators);
    return {unknown.begin(), unknown.end()};
}

} // namespace fathom::agent
