#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <map>
#include <optional>
#include <string>

namespace fathom::agent {

// What the API server's objects say of what the agent looks at, read leniently: fields of later versions are left
// alone, and what is not as expected counts as not said. Pure.

/// Labels of what the agent has made, and of nothing else.
inline constexpr const char* kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr const char* kManagedBy = "fathom";
inline constexpr const char* kCenterLabel = "fathom/center";
inline constexpr const char* kAttemptLabel = "fathom/attempt";

/// Processors in thousandths, bytes, and device plugins' resources by their names.
struct ClusterResources {
    std::int64_t cpu_millis{};
    std::int64_t memory_bytes{};
    std::map<std::string, std::int64_t> devices{};

    bool operator==(const ClusterResources&) const = default;
};

struct ClusterNode {
    std::string name;
    std::map<std::string, std::string> labels;
    ClusterResources allocatable; ///< to pods
    bool is_usable{};             ///< ready, not cordoned, and without a taint that keeps pods away
};
ClusterNode read_node(const Json& node);

/// What a pod holds of its node; empty: nothing, since it has ended or has no node.
struct PodDemand {
    std::string node;
    ClusterResources resources;
    std::string center; ///< the label's; empty: it is not fathom's
};
std::optional<PodDemand> read_demand(const Json& pod);

/// How a container ended.
struct ContainerEnd {
    int exit_code{};
    int signal{};
    std::string reason;
    std::string message;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> finished_at;
};

struct ReasonedText {
    std::string reason;
    std::string message;
};

/// A pod of the agent's.
struct ClusterPod {
    std::string name;
    std::string uid;
    std::string attempt; ///< its label
    std::string phase;
    std::string node;
    ReasonedText status{};        ///< of the pod, such as Evicted
    ReasonedText unschedulable{}; ///< of its condition PodScheduled, where that is false
    ReasonedText disruption{};    ///< of its condition DisruptionTarget, where that is true
    ReasonedText waiting{};       ///< of its container, where that waits
    bool is_running{};            ///< its container
    bool is_being_deleted{};
    std::optional<ContainerEnd> container_end{};
};
ClusterPod read_pod(const Json& pod);

/// A Job of the agent's.
struct ClusterJob {
    std::string name;
    std::string uid;
    std::string center; ///< labels
    std::string attempt;
    ReasonedText failure{}; ///< of its condition Failed, where that is true
    bool is_complete{};
};
ClusterJob read_job(const Json& job);

/// A value inside objects; nullptr where there is none.
const Json* find_in(const Json& json, std::initializer_list<const char*> path);
/// A text inside objects; empty where there is none.
std::string text_in(const Json& json, std::initializer_list<const char*> path);

} // namespace fathom::agent
