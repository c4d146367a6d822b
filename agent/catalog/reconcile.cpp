#include "agent/catalog/reconcile.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

/// Far more than a machine has; sums stay in range.
constexpr std::int64_t kMaxBytes = 1LL << 60U;

/// What may be cut, and how much memory its units may have together.
struct Permitted {
    Host host;
    std::int64_t memory_bytes{};
};

std::int64_t memory_of(const UnitType& type)
{
    return type.report.memory_bytes_per_unit * std::ssize(type.units);
}

/// What a plan takes of the machine.
class Taken {
  public:
    explicit Taken(const UnitPlan& plan)
    {
        for (const UnitType& type : plan) {
            for (const Unit& unit : type.units) {
                cpus_.insert(unit.cpus.begin(), unit.cpus.end());
                for (const UnitDevice& device : unit.devices)
                    missing_parts_.emplace(device.device.id, device.parts).first->second -= 1;
            }
        }
    }

    bool has_cpu(std::int64_t cpu) const { return cpus_.contains(cpu); }
    bool has_all_of(const HostDevice& device) const
    {
        const auto found = missing_parts_.find(device.id);
        return found != missing_parts_.end() && found->second == 0;
    }

  private:
    std::set<std::int64_t> cpus_;
    std::map<std::string, std::int64_t> missing_parts_; ///< of each device that something is taken of
};

/// The memory that the offered cores have as their share.
std::int64_t share_of_cores(const Host& host)
{
    return host.host_cores > 0 ? host.memory_bytes / host.host_cores * std::ssize(host.cores) : 0;
}

/// The part of the machine that the file's own units are cut from. Their memory is shared out anew.
Permitted part_of(const Host& host, const UnitPlan& own)
{
    const Taken taken(own);
    Permitted permitted{.host = host};
    permitted.host.cores.clear();
    permitted.host.host_threads = 0;
    for (HostCore core : host.cores) {
        std::erase_if(core.cpus, [&](std::int64_t cpu) { return !taken.has_cpu(cpu); });
        permitted.host.host_threads += std::ssize(core.cpus);
        if (!core.cpus.empty()) permitted.host.cores.push_back(std::move(core));
    }
    permitted.host.host_cores = std::ssize(permitted.host.cores);
    std::erase_if(permitted.host.devices, [&](const HostDevice& device) { return !taken.has_all_of(device); });
    for (const UnitType& type : own)
        permitted.memory_bytes += memory_of(type);
    permitted.host.memory_bytes = permitted.memory_bytes;
    // Shares are rounded down for each core or thread: what that leaves must not cost a unit.
    permitted.memory_bytes += host.host_threads;
    return permitted;
}

Permitted permitted_part(const Host& host, const AgentTables& file, const UnitPlan& own, RemoteRule rule)
{
    if (rule == RemoteRule::kWithin && !file.unit_types.empty()) return part_of(host, own);
    return {.host = host, .memory_bytes = share_of_cores(host)};
}

ResourceDifference not_permitted(const UnitCut& cut, std::string field, const std::string& what)
{
    return {.code = "not_permitted",
            .unit_type = cut.name,
            .field = std::move(field),
            .detail = "\"" + cut.name + "\" is not offered: " + what +
                      ", which the agent's file does not allow; remote_resources = \"machine\" does"};
}

/// Whether the file has units of the same resource type of which this is true.
template <class Condition>
bool file_has(const AgentTables& file, const UnitCut& cut, Condition condition)
{
    return std::any_of(file.unit_types.begin(), file.unit_types.end(),
                       [&](const UnitCut& own) { return own.resource_type == cut.resource_type && condition(own); });
}

/// What of the cut brings jobs closer together than the file does.
std::optional<ResourceDifference> find_closeness(const UnitCut& cut, const AgentTables& file)
{
    const auto shares_alike = [&](const UnitCut& own) {
        return own.sharing == cut.sharing && own.parts_per_device >= cut.parts_per_device;
    };
    if (cut.sharing != DeviceSharing::kNone && !file_has(file, cut, shares_alike))
        return not_permitted(cut, "sharing", "its units share devices (" + std::string(to_string(cut.sharing)) + ")");
    const auto has_threads = [](const UnitCut& own) { return own.processors == ProcessorKind::kThread; };
    if (cut.processors == ProcessorKind::kThread && !file_has(file, cut, has_threads))
        return not_permitted(cut, "processors", "its units share cores");
    const auto has_none = [](const UnitCut& own) { return own.cores_per_unit == 0; };
    if (cut.cores_per_unit == 0 && !file_has(file, cut, has_none))
        return not_permitted(cut, "cores_per_unit", "its units run on cores of others");
    return std::nullopt;
}

/// The file's cuts whose sub-units go to other centers.
std::vector<UnitCut> kept_cuts(const Host& host, const AgentTables& file)
{
    std::vector<UnitCut> kept;
    if (file.sub_units.empty()) return kept;
    for (const UnitCut& cut : effective_cuts(host, file)) {
        const bool moves = std::any_of(file.sub_units.begin(), file.sub_units.end(),
                                       [&](const SubUnitRule& rule) { return rule.unit_type == cut.name; });
        if (moves) kept.push_back(cut);
    }
    return kept;
}

/// Those of `wanted` that may be cut, behind those that the file alone cuts.
std::vector<UnitCut> allowed_cuts(const Host& host, const AgentTables& file, const std::vector<UnitCut>& wanted,
                                  RemoteRule rule, std::vector<ResourceDifference>& differences)
{
    std::vector<UnitCut> cuts = kept_cuts(host, file);
    const std::vector<UnitCut> kept = cuts;
    for (const UnitCut& cut : wanted) {
        const auto own =
            std::find_if(kept.begin(), kept.end(), [&](const UnitCut& other) { return other.name == cut.name; });
        if (own != kept.end()) {
            if (*own != cut)
                differences.push_back({.code = "kept_by_file",
                                       .unit_type = cut.name,
                                       .detail = "\"" + cut.name +
                                                 "\" is as the agent's file says: its sub-units go to "
                                                 "other centers"});
            continue;
        }
        std::optional<ResourceDifference> closeness;
        if (rule == RemoteRule::kWithin) closeness = find_closeness(cut, file);
        if (closeness)
            differences.push_back(std::move(*closeness));
        else
            cuts.push_back(cut);
    }
    return cuts;
}

/// Takes units away that would have more memory than there is.
void limit_memory(UnitPlan& plan, std::int64_t memory_bytes, std::vector<ResourceDifference>& differences)
{
    for (UnitType& type : plan) {
        const std::int64_t each = type.report.memory_bytes_per_unit;
        const std::int64_t count = std::ssize(type.units);
        const std::int64_t fitting = each > 0 ? memory_bytes / each : count;
        if (fitting < count) {
            const std::int64_t wanted = each > kMaxBytes / count ? kMaxBytes : each * count;
            differences.push_back({.code = "less_memory",
                                   .unit_type = type.report.name,
                                   .field = "memory_bytes_per_unit",
                                   .wanted = wanted,
                                   .seen = memory_bytes,
                                   .detail = "\"" + type.report.name + "\" needs " + std::to_string(wanted) +
                                             " bytes of memory, but only " + std::to_string(memory_bytes) +
                                             " of the offered ones are left: " + std::to_string(fitting) + " of " +
                                             std::to_string(count) + " units are offered"});
            type.units.resize(static_cast<std::size_t>(fitting));
            type.report.unit_count = fitting;
        }
        memory_bytes -= memory_of(type);
    }
}

/// The first of the operators that a unit type names and does not offer; empty: it offers all.
std::string missing_operators(const UnitCut& cut, const UnitType& type)
{
    constexpr std::size_t kMax = 5;
    const std::vector<std::string>& offered = type.report.operators;
    std::string names;
    std::size_t count = 0;
    for (const std::string& id : cut.operators) {
        if (std::find(offered.begin(), offered.end(), id) != offered.end()) continue;
        if (++count <= kMax) names += (names.empty() ? "" : ", ") + id;
    }
    return count > kMax ? names + " and " + std::to_string(count - kMax) + " more" : names;
}

} // namespace

std::vector<ResourceDifference> operator_differences(const std::vector<UnitCut>& wanted, const UnitPlan& plan)
{
    std::vector<ResourceDifference> differences;
    for (const UnitCut& cut : wanted) {
        const auto type = std::find_if(plan.begin(), plan.end(),
                                       [&](const UnitType& other) { return other.report.name == cut.name; });
        if (type == plan.end()) continue;
        const std::string missing = missing_operators(cut, *type);
        if (missing.empty()) continue;
        differences.push_back({.code = "operator_missing",
                               .unit_type = cut.name,
                               .field = "operators",
                               .detail = "\"" + cut.name + "\" cannot offer " + missing +
                                         ": fathom-probe does not have it here, or the agent's file leaves it out"});
    }
    return differences;
}

ReconciledUnits reconcile(const Host& host, const AgentTables& file, const std::vector<UnitCut>& wanted,
                          RemoteRule rule, const ProbeAbilities& abilities)
{
    CutUnits own = cut_what_fits(host, file, abilities);
    if (wanted.empty() || rule == RemoteRule::kOff) return {std::move(own.plan), std::move(own.differences)};
    const Permitted permitted = permitted_part(host, file, own.plan, rule);
    ReconciledUnits result;
    AgentTables tables = file;
    tables.unit_types = allowed_cuts(host, file, wanted, rule, result.differences);
    if (tables.unit_types.empty()) return result; // without tables everything would be cut as is usual
    CutUnits cut = cut_what_fits(permitted.host, tables, abilities);
    result.plan = std::move(cut.plan);
    result.differences.insert(result.differences.end(), cut.differences.begin(), cut.differences.end());
    limit_memory(result.plan, permitted.memory_bytes, result.differences);
    const std::vector<ResourceDifference> missing = operator_differences(wanted, result.plan);
    result.differences.insert(result.differences.end(), missing.begin(), missing.end());
    return result;
}

} // namespace fathom::agent
