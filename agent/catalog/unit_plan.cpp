#include "agent/catalog/unit_plan.hpp"

#include <set>

namespace fathom::agent {
namespace {

/// The cores not yet cut, by NUMA node, in the machine's order.
class Remaining {
  public:
    explicit Remaining(const Host& host)
    {
        for (const HostCore& core : host.cores)
            nodes_[core.numa_node].push_back(core);
    }

    std::size_t size() const
    {
        std::size_t count = 0;
        for (const auto& [node, cores] : nodes_)
            count += cores.size();
        return count;
    }

    /// Takes one unit of `count` cores; the caller has checked that there are as many.
    Unit take(std::size_t count)
    {
        Unit unit;
        std::vector<HostCore>* best = nullptr;
        for (auto& [node, cores] : nodes_) {
            if (cores.size() >= count && (best == nullptr || cores.size() < best->size())) best = &cores;
        }
        if (best != nullptr) {
            take_from(*best, count, unit);
        } else {
            for (auto& [node, cores] : nodes_) {
                const std::size_t some = std::min(cores.size(), count);
                take_from(cores, some, unit);
                count -= some;
            }
        }
        std::sort(unit.cpus.begin(), unit.cpus.end());
        return unit;
    }

  private:
    static void take_from(std::vector<HostCore>& cores, std::size_t count, Unit& unit)
    {
        const auto end = cores.begin() + static_cast<std::ptrdiff_t>(count);
        for (auto core = cores.begin(); core != end; ++core) {
            unit.cpus.insert(unit.cpus.end(), core->cpus.begin(), core->cpus.end());
        }
        cores.erase(cores.begin(), end);
    }

    std::map<std::int64_t, std::vector<HostCore>> nodes_;
};

bool contains(const std::vector<std::string>& list, const std::string& item)
{
    return std::find(list.begin(), list.end(), item) != list.end();
}

/// What the probe program has, cut down by the center's table and then by the unit type's own list.
std::vector<std::string> operators_of(const UnitCut& cut, const AgentTables& tables, const ProbeAbilities& abilities)
{
    const auto by_resource = tables.operators.find(cut.resource_type);
    std::vector<std::string> ids;
    for (const std::string& id : abilities.operators) {
        if (by_resource != tables.operators.end() && !contains(by_resource->second, id)) continue;
        if (!cut.operators.empty() && !contains(cut.operators, id)) continue;
        ids.push_back(id);
    }
    return ids;
}

UnitTypeReport report_of(const UnitCut& cut, const Host& host, const AgentTables& tables,
                         const ProbeAbilities& abilities)
{
    UnitTypeReport report;
    report.name = cut.name;
    report.resource_type = cut.resource_type;
    report.cores_per_unit = cut.cores_per_unit;
    report.memory_bytes_per_unit = cut.memory_bytes_per_unit;
    if (report.memory_bytes_per_unit == 0 && host.host_cores > 0)
        report.memory_bytes_per_unit = host.memory_bytes / host.host_cores * cut.cores_per_unit;
    report.operators = operators_of(cut, tables, abilities);
    report.facts = host.processor;
    if (!abilities.blas_core_type.empty()) report.facts["blas_core_type"] = abilities.blas_core_type;
    if (abilities.accepts_uploads) report.facts["accepts_uploads"] = true;
    return report;
}

} // namespace

Result<UnitPlan> cut_units(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities)
{
    std::vector<UnitCut> cuts = tables.unit_types;
    if (cuts.empty()) {
        cuts.emplace_back();
        cuts.back().name = "core";
    }

    Remaining remaining(host);
    std::vector<FieldError> errors;
    UnitPlan plan;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        const UnitCut& cut = cuts[i];
        const auto size = static_cast<std::size_t>(cut.cores_per_unit);
        const std::size_t fitting = remaining.size() / size;
        const std::size_t wanted = cut.unit_count == 0 ? fitting : static_cast<std::size_t>(cut.unit_count);
        if (fitting == 0 || wanted > fitting) {
            errors.push_back(
                {"unit_type[" + std::to_string(i) + "]" + (cut.unit_count == 0 ? ".cores_per_unit" : ".unit_count"),
                 "\"" + cut.name + "\" needs " + std::to_string(std::max<std::size_t>(wanted, 1) * size) +
                     " cores, but only " + std::to_string(remaining.size()) + " of the offered ones are left"});
            continue;
        }
        UnitType type{report_of(cut, host, tables, abilities), {}};
        for (std::size_t unit = 0; unit < wanted; ++unit)
            type.units.push_back(remaining.take(size));
        type.report.unit_count = static_cast<std::int64_t>(wanted);
        plan.push_back(std::move(type));
    }
    return value_or_errors(std::move(plan), std::move(errors), "the cut of unit types");
}

std::vector<std::string> unknown_operators(const AgentTables& tables, const ProbeAbilities& abilities)
{
    std::set<std::string> unknown;
    const auto look_at = [&](const std::vector<std::string>& ids) {
        for (const std::string& id : ids) {
            if (!contains(abilities.operators, id)) unknown.insert(id);
        }
    };
    for (const auto& [resource_type, ids] : tables.operators)
        look_at(ids);
    for (const UnitCut& cut : tables.unit_types)
        look_at(cut.operators);
    return {unknown.begin(), unknown.end()};
}

} // namespace fathom::agent
