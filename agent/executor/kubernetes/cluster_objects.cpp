#include "agent/executor/kubernetes/cluster_objects.hpp"

#include "agent/executor/kubernetes/quantity.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMillis = 1000;

/// The items of an array inside objects; none where there is no array.
const Json& items_in(const Json& json, std::initializer_list<const char*> path)
{
    static const Json nothing = Json::array();
    const Json* found = find_in(json, path);
    return found != nullptr && found->is_array() ? *found : nothing;
}

bool flag_in(const Json& json, std::initializer_list<const char*> path)
{
    const Json* found = find_in(json, path);
    return found != nullptr && found->is_boolean() && found->get<bool>();
}

int number_in(const Json& json, const char* name)
{
    const Json* found = find_in(json, {name});
    if (found == nullptr || !found->is_number_integer()) return 0;
    return static_cast<int>(std::clamp<std::int64_t>(found->get<std::int64_t>(), -1, 65'535));
}

std::optional<Timestamp> time_in(const Json& json, const char* name)
{
    const Result<Timestamp> time = parse_rfc3339(text_in(json, {name}));
    if (!time) return std::nullopt;
    return *time;
}

std::map<std::string, std::string> labels_of(const Json& object)
{
    std::map<std::string, std::string> labels;
    const Json* found = find_in(object, {"metadata", "labels"});
    if (found == nullptr || !found->is_object()) return labels;
    for (const auto& [name, value] : found->items()) {
        if (value.is_string()) labels[name] = value.get<std::string>();
    }
    return labels;
}

/// A list of resources, by their names: those that count here.
ClusterResources read_resources(const Json* list)
{
    ClusterResources resources;
    if (list == nullptr || !list->is_object()) return resources;
    for (const auto& [name, value] : list->items()) {
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (name == "cpu") {
            resources.cpu_millis = parse_quantity(text, kMillis).value_or(0);
        } else if (name == "memory") {
            resources.memory_bytes = parse_quantity(text, 1).value_or(0);
        } else if (name.find('/') != std::string::npos) { // only these are device plugins'
            resources.devices[name] = parse_quantity(text, 1).value_or(0);
        }
    }
    return resources;
}

void add(ClusterResources& sum, const ClusterResources& more)
{
    sum.cpu_millis += more.cpu_millis;
    sum.memory_bytes += more.memory_bytes;
    for (const auto& [name, count] : more.devices)
        sum.devices[name] += count;
}

void take_larger(ClusterResources& most, const ClusterResources& other)
{
    most.cpu_millis = std::max(most.cpu_millis, other.cpu_millis);
    most.memory_bytes = std::max(most.memory_bytes, other.memory_bytes);
    for (const auto& [name, count] : other.devices)
        most.devices[name] = std::max(most.devices[name], count);
}

ReasonedText reasoned(const Json& json)
{
    return {text_in(json, {"reason"}), text_in(json, {"message"})};
}

/// The condition of this type where it has this status.
ReasonedText condition_of(const Json& object, std::string_view type, std::string_view status)
{
    for (const Json& condition : items_in(object, {"status", "conditions"})) {
        if (text_in(condition, {"type"}) == type && text_in(condition, {"status"}) == status)
            return reasoned(condition);
    }
    return {};
}

bool is_in_condition(const Json& object, std::string_view type)
{
    const Json& conditions = items_in(object, {"status", "conditions"});
    return std::any_of(conditions.begin(), conditions.end(), [&](const Json& condition) {
        return text_in(condition, {"type"}) == type && text_in(condition, {"status"}) == "True";
    });
}

void read_container(ClusterPod& pod, const Json& container)
{
    if (const Json* waiting = find_in(container, {"state", "waiting"})) pod.waiting = reasoned(*waiting);
    pod.is_running = find_in(container, {"state", "running"}) != nullptr;
    const Json* ended = find_in(container, {"state", "terminated"});
    if (ended == nullptr || !ended->is_object()) return;
    pod.container_end = ContainerEnd{.exit_code = std::clamp(number_in(*ended, "exitCode"), 0, 255),
                                     .signal = number_in(*ended, "signal"),
                                     .reason = text_in(*ended, {"reason"}),
                                     .message = text_in(*ended, {"message"}),
                                     .started_at = time_in(*ended, "startedAt"),
                                     .finished_at = time_in(*ended, "finishedAt")};
}

} // namespace

const Json* find_in(const Json& json, std::initializer_list<const char*> path)
{
    const Json* at = &json;
    for (const char* name : path) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(name);
        if (found == at->end() || found->is_null()) return nullptr;
        at = &*found;
    }
    return at;
}

std::string text_in(const Json& json, std::initializer_list<const char*> path)
{
    const Json* found = find_in(json, path);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

ClusterNode read_node(const Json& node)
{
    ClusterNode read{.name = text_in(node, {"metadata", "name"}),
                     .labels = labels_of(node),
                     .allocatable = read_resources(find_in(node, {"status", "allocatable"}))};
    const Json& taints = items_in(node, {"spec", "taints"});
    const bool is_tainted = std::any_of(taints.begin(), taints.end(), [](const Json& taint) {
        const std::string effect = text_in(taint, {"effect"});
        return effect == "NoSchedule" || effect == "NoExecute";
    });
    read.is_usable = is_in_condition(node, "Ready") && !is_tainted && !flag_in(node, {"spec", "unschedulable"});
    return read;
}

std::optional<PodDemand> read_demand(const Json& pod)
{
    const std::string phase = text_in(pod, {"status", "phase"});
    PodDemand demand{.node = text_in(pod, {"spec", "nodeName"}), .resources = {}, .center = {}};
    if (demand.node.empty() || phase == "Succeeded" || phase == "Failed") return std::nullopt;
    for (const Json& container : items_in(pod, {"spec", "containers"}))
        add(demand.resources, read_resources(find_in(container, {"resources", "requests"})));
    for (const Json& container : items_in(pod, {"spec", "initContainers"}))
        take_larger(demand.resources, read_resources(find_in(container, {"resources", "requests"})));
    add(demand.resources, read_resources(find_in(pod, {"spec", "overhead"})));
    const std::map<std::string, std::string> labels = labels_of(pod);
    const auto made_by = labels.find(kManagedByLabel);
    const auto center = labels.find(kCenterLabel);
    if (made_by != labels.end() && made_by->second == kManagedBy && center != labels.end())
        demand.center = center->second;
    return demand;
}

ClusterPod read_pod(const Json& pod)
{
    const Json* status = find_in(pod, {"status"});
    ClusterPod read{.name = text_in(pod, {"metadata", "name"}),
                    .uid = text_in(pod, {"metadata", "uid"}),
                    .attempt = text_in(pod, {"metadata", "labels", kAttemptLabel}),
                    .phase = text_in(pod, {"status", "phase"}),
                    .node = text_in(pod, {"spec", "nodeName"})};
    if (status != nullptr) read.status = reasoned(*status);
    read.unschedulable = condition_of(pod, "PodScheduled", "False");
    read.disruption = condition_of(pod, "DisruptionTarget", "True");
    read.is_being_deleted = find_in(pod, {"metadata", "deletionTimestamp"}) != nullptr;
    const Json& containers = items_in(pod, {"status", "containerStatuses"});
    if (!containers.empty()) read_container(read, containers.front());
    return read;
}

ClusterJob read_job(const Json& job)
{
    return {.name = text_in(job, {"metadata", "name"}),
            .uid = text_in(job, {"metadata", "uid"}),
            .center = text_in(job, {"metadata", "labels", kCenterLabel}),
            .attempt = text_in(job, {"metadata", "labels", kAttemptLabel}),
            .failure = condition_of(job, "Failed", "True"),
            .is_complete = is_in_condition(job, "Complete")};
}

} // namespace fathom::agent
