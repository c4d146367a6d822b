#pragma once

#include "agent/catalog/unit_plan.hpp"

namespace fathom::agent {

/// What a center offers of what the network's administrators want it to.
struct ReconciledUnits {
    UnitPlan plan;
    std::vector<ResourceDifference> differences;
};

/// Cuts the machine as `wanted` says, as far as it has that and the config file allows it (RemoteRule):
///
/// * kWithin: no core, device or memory that the file's own cut does not offer; a device's parts only where the file
///   offers all of them. Units that share devices or cores (`sharing`, `processors = "threads"`, units without cores)
///   only where the file has such units of the same resource type.
/// * kMachine: every core that `cores` offers, every device, and their memory.
///
/// Unit types whose sub-units go to other centers stay as the file says. Operators are those of the file's table
/// `[operators]` at most. Whatever is not there or not allowed is not offered, and named by a difference.
/// `wanted` empty: as the file says. Pure: same input, same units.
ReconciledUnits reconcile(const Host& host, const AgentTables& file, const std::vector<UnitCut>& wanted,
                          RemoteRule rule, const ProbeAbilities& abilities);

/// A difference for each unit type that is to offer operators that it does not.
std::vector<ResourceDifference> operator_differences(const std::vector<UnitCut>& wanted, const UnitPlan& plan);

} // namespace fathom::agent
