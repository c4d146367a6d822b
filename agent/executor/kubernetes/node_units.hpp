#pragma once

#include "agent/catalog/catalog.hpp"
#include "agent/executor/kubernetes/cluster_objects.hpp"

namespace fathom::agent {

/// What a survey of a cluster sees.
struct ClusterView {
    std::vector<ClusterNode> nodes{};
    std::vector<PodDemand> demands{}; ///< of all pods that hold something
};

/// Which nodes are offered, and how they are told apart.
struct NodeUnitOptions {
    std::string center{};                                  ///< pods with this label hold units, others take them away
    std::vector<std::string> unit_labels{};                ///< nodes that are alike in these are one unit type
    std::map<std::string, std::string> node_selector{};    ///< that nodes must have
    std::map<std::string, std::string> device_resources{}; ///< resource type -> the device plugin's resource
};

/// What a cluster's nodes are as unit types: of nodes that are usable and have the selector's labels, what fits beside
/// what others' pods request. Without `[[unit_type]]` tables: a type for each group of nodes that are alike in the unit
/// labels, whose unit is one processor, or of nodes with GPUs one GPU and its share of the processors; a unit has the
/// same share of nine tenths of the node's memory, since pods of the system need some, too. With tables: each cuts the
/// nodes that have the labels of its constraint, in their order; what one took is not the next one's. `cores_per_unit`
/// counts processors as Kubernetes does. Pure.
ReconciledUnits cut_cluster(const ClusterView& view, const AgentTables& tables, const ProbeAbilities& abilities,
                            const NodeUnitOptions& options);

/// A line for each node that is offered, with all that units are cut by.
std::vector<std::string> describe_cluster(const ClusterView& view, const NodeUnitOptions& options);

} // namespace fathom::agent
