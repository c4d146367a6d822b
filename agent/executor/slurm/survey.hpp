#pragma once

#include "agent/catalog/catalog.hpp"
#include "agent/executor/slurm/slurm_client.hpp"

namespace fathom::agent {

/// What a cluster's nodes are as unit types. Without `[[unit_type]]` tables: a type for each partition and set of
/// features, named partition or partition-feature-…, whose unit is a whole node (the smallest of them counts). With
/// tables: each cuts nodes of its partition that have the features of its constraint into units of its cores. Nodes
/// that are down or drained count as well when `is_usable` is false for all: Slurm says why jobs wait then. Pure.
/// @error kInvalid  a table that no node fits; the detail names it.
Result<UnitPlan> cut_nodes(const std::vector<SlurmNode>& nodes, const AgentTables& tables,
                           const ProbeAbilities& abilities);

/// What of `wanted`, or where that is empty of the file, the nodes can be cut into, as reconcile() does for one host.
/// With RemoteRule::kWithin a type must have a partition of the file's and the features that the file asks for there,
/// and no more cores of a partition are offered than the file offers. Pure.
ReconciledUnits reconcile_nodes(const std::vector<SlurmNode>& nodes, const AgentTables& file,
                                const std::vector<UnitCut>& wanted, RemoteRule rule, const ProbeAbilities& abilities);

/// A line for each node, with all that units are cut by.
std::vector<std::string> describe_nodes(const std::vector<SlurmNode>& nodes);

/// Asks Slurm for its nodes (SlurmClient::nodes()) and this host's probe program for its operators. Blocks.
/// @error kUnavailable  Slurm does not answer.
/// @error kInvalid      as cut_nodes(), for CutRule::kMustFit.
Result<CenterOffer> survey_slurm(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order,
                                 SlurmNodeDetails& details);

/// Asks Slurm for its nodes. Blocks.
/// @error kUnavailable  Slurm does not answer.
Result<Hardware> look_at_slurm(const AgentConfig& config, SlurmNodeDetails& details);

} // namespace fathom::agent
