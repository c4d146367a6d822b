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

/// Asks Slurm for its nodes and this host's probe program for its operators. Blocks.
/// @error kUnavailable  Slurm does not answer.
/// @error kInvalid      as cut_nodes().
Result<CenterOffer> survey_slurm(const AgentConfig& config, const Json& executor_facts);

} // namespace fathom::agent
