#pragma once

#include "agent/executor/slurm/slurm_text.hpp"
#include "core/base/json_reader.hpp"

namespace fathom::agent {

// The network of a cluster with topology/tree, as far as it says which nodes share a leaf switch. Pure.

/// By node, the leaf switches that connect it: one as a rule, more where the node has links to several.
using LeafSwitches = std::map<std::string, std::vector<std::string>, std::less<>>;

/// From `scontrol show topology`. Empty: the cluster has no such topology, or a leaf switch is told otherwise than
/// Slurm's documentation has it, since half of a network would be a guess. Nodes and their links are at most
/// kMaxSlurmNodes.
LeafSwitches parse_leaf_switches(std::string_view text);

/// The hosts of one of Slurm's lists, such as `n[01-04,07],gpu-a[1-2]x[1-2]`, in its order. Empty: it is no such list,
/// or one of more than `most` hosts.
std::vector<std::string> expand_hosts(std::string_view list, std::size_t most);

/// The fact `leaf_switches` of units that lie so on these nodes (SlurmNode::leaf_switches), at least one: how many
/// switches there are, how many of the nodes each has where that is a list for people, and how many units share one at
/// most; or why that is not known.
Json leaf_switch_facts(const std::vector<const SlurmNode*>& nodes, std::int64_t units_per_node);

/// Of these nodes, how many share a leaf switch at most; 0: none has one.
std::int64_t most_below_a_switch(const std::vector<const SlurmNode*>& nodes);

} // namespace fathom::agent
