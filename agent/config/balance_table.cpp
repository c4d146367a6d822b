#include "agent/config/balance_table.hpp"

#include "agent/config/cpu_list.hpp"

#include <set>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxUnits = 1000;
constexpr std::size_t kMaxNameLength = 128;
constexpr std::int64_t kMaxClockMhz = 100'000;

BalancedUnit read_unit(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    BalancedUnit unit;
    unit.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxNameLength});
    unit.device = reader.optional_string("device", {.min_length = 1, .max_length = kMaxNameLength}).value_or("");
    const std::string cpus = reader.optional_string("cpus", {.min_length = 1}).value_or("");
    if (unit.device.empty() == cpus.empty()) reader.fail("device", "or cpus must be given, and not both");
    if (Result<std::vector<std::int64_t>> list = parse_cpu_list(cpus))
        unit.cpus = std::move(*list);
    else
        reader.fail("cpus", list.error().detail);
    unit.cgroup = reader.optional_string("cgroup", {.min_length = 1}).value_or("");
    if (unit.cgroup.find("..") != std::string::npos) reader.fail("cgroup", "must be a path without \"..\"");
    if (!unit.cgroup.empty() && !unit.device.empty()) reader.fail("cgroup", "is of units of processors");
    unit.link_bytes_per_s = reader.optional_number("link_bytes_per_s", 1, 1e18).value_or(0);
    if (unit.device.empty() && unit.link_bytes_per_s == 0)
        reader.fail("link_bytes_per_s", "must be given for processors: nothing tells the bandwidth of their memory");
    unit.clock_mhz = reader.optional_integer("clock_mhz", 1, kMaxClockMhz).value_or(0);
    if (unit.clock_mhz > 0 && unit.device.empty())
        reader.fail("clock_mhz", "is of GPUs: the system tells the clock of processors");
    reader.finish(UnknownFields::kReject);
    return unit;
}

/// Two loops would undo each other's changes at what both have.
void refuse_common(const std::vector<BalancedUnit>& units, std::vector<FieldError>& errors)
{
    std::set<std::string> devices;
    std::set<std::int64_t> cpus;
    for (std::size_t i = 0; i < units.size(); ++i) {
        const std::string path = "balance.unit[" + std::to_string(i) + "]";
        if (!units[i].device.empty() && !devices.insert(units[i].device).second)
            errors.push_back({path + ".device", "is of an earlier unit, too"});
        for (const std::int64_t cpu : units[i].cpus) {
            if (cpus.insert(cpu).second) continue;
            errors.push_back({path + ".cpus", "processor " + std::to_string(cpu) + " is of an earlier unit, too"});
            break;
        }
    }
}

std::vector<BalancedUnit> read_units(ObjectReader& table, std::vector<FieldError>& errors)
{
    std::vector<BalancedUnit> units;
    const Json* const items = table.has("unit") ? table.array("unit", 1, kMaxUnits) : nullptr;
    if (items == nullptr) return units;
    std::set<std::string> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = "balance.unit[" + std::to_string(i) + "]";
        if (!(*items)[i].is_object()) {
            errors.push_back({path, "must be a table"});
            continue;
        }
        units.push_back(read_unit((*items)[i], path, errors));
        if (!names.insert(units.back().name).second) errors.push_back({path + ".name", "is duplicated"});
    }
    refuse_common(units, errors);
    return units;
}

} // namespace

BalanceConfig read_balance(ObjectReader& reader, std::vector<FieldError>& errors)
{
    BalanceConfig config;
    const Json* const json = reader.has("balance") ? reader.object("balance") : nullptr;
    if (json == nullptr) return config;
    ObjectReader table(*json, "balance", errors);
    config.enabled = table.optional_boolean("enabled").value_or(config.enabled);
    config.dry_run = table.optional_boolean("dry_run").value_or(config.dry_run);
    config.period_s = table.optional_number("period_s", 0.05, 3600).value_or(config.period_s);
    config.trace_bytes = table.optional_integer("trace_bytes", 64LL << 10U, 1LL << 30U).value_or(config.trace_bytes);
    config.regulator = read_regulator_settings(table, errors);
    config.units = read_units(table, errors);
    if (config.enabled && config.units.empty() && errors.empty())
        table.fail("unit", "must be given: which units are balanced");
    table.finish(UnknownFields::kReject);
    return config;
}

} // namespace fathom::agent
