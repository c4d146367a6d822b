#pragma once

#include "agent/catalog/host.hpp"
#include "agent/config/agent_config.hpp"
#include "core/model/center.hpp"

namespace fathom::agent {

/// One unit: the smallest piece of this center that is given away.
struct Unit {
    std::vector<std::int64_t> cpus; ///< ascending
};

/// The units of one type, as reported and as they really are.
struct UnitType {
    UnitTypeReport report;
    std::vector<Unit> units; ///< report.unit_count of them; a unit's index is its name on the wire
};

using UnitPlan = std::vector<UnitType>;

/// What `fathom-probe --list` said about this center.
struct ProbeAbilities {
    std::vector<std::string> operators;
    std::string blas_core_type; ///< what OpenBLAS picks here; empty: not known
    bool accepts_uploads{};     ///< uploaded operators can run: keys are trusted, and a sandbox can be made
};

/// Cuts the offered cores into units, in the order of the config; no core is in two units. A unit's
/// cores come from one NUMA node where one still has enough, from the fullest such node first.
/// Pure: same input, same plan.
/// @error kInvalid  the cuts do not fit the machine; each with its key.
Result<UnitPlan> cut_units(const Host& host, const AgentTables& tables, const ProbeAbilities& abilities);

/// Operators that the config names and this center's fathom-probe does not have.
std::vector<std::string> unknown_operators(const AgentTables& tables, const ProbeAbilities& abilities);

} // namespace fathom::agent
