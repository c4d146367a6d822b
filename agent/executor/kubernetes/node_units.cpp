#include "agent/executor/kubernetes/node_units.hpp"

#include "agent/executor/kubernetes/job_manifest.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxClusterUnits = 65'536; ///< of all types together: each has a number of its own
constexpr std::size_t kMaxClusterTypes = 100;
constexpr std::size_t kMaxTypeName = 60;
constexpr std::int64_t kCpuMillis = 1000;
constexpr std::int64_t kMebibyte = 1LL << 20U;
constexpr const char* kModelLabel = "nvidia.com/gpu.product";

/// A node that is offered, with what its units may still have.
struct FreeNode {
    const ClusterNode* node{};
    ClusterResources free;
};

bool has_labels(const ClusterNode& node, const std::map<std::string, std::string>& wanted)
{
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& label) {
        const auto found = node.labels.find(label.first);
        return found != node.labels.end() && found->second == label.second;
    });
}

std::int64_t devices_in(const ClusterResources& resources, const std::string& name)
{
    const auto found = resources.devices.find(name);
    return found == resources.devices.end() ? 0 : found->second;
}

std::vector<FreeNode> free_nodes(const ClusterView& view, const NodeUnitOptions& options)
{
    std::vector<FreeNode> nodes;
    for (const ClusterNode& node : view.nodes) {
        if (!node.is_usable || !has_labels(node, options.node_selector)) continue;
        FreeNode one{&node, node.allocatable};
        for (const PodDemand& demand : view.demands) {
            if (demand.node != node.name || demand.center == options.center) continue;
            one.free.cpu_millis -= demand.resources.cpu_millis;
            one.free.memory_bytes -= demand.resources.memory_bytes;
            for (const auto& [name, count] : demand.resources.devices)
                one.free.devices[name] -= count;
        }
        nodes.push_back(std::move(one));
    }
    return nodes;
}

/// How many units of the place fit.
std::int64_t fitting(const ClusterResources& resources, const BatchPlace& place)
{
    std::int64_t count = resources.cpu_millis / (place.cpus_per_unit * kCpuMillis);
    if (place.memory_bytes_per_unit > 0) count = std::min(count, resources.memory_bytes / place.memory_bytes_per_unit);
    if (place.devices_per_unit > 0)
        count = std::min(count, devices_in(resources, place.devices) / place.devices_per_unit);
    return std::clamp<std::int64_t>(count, 0, kMaxClusterUnits);
}

void take_units(ClusterResources& resources, const BatchPlace& place, std::int64_t count)
{
    resources.cpu_millis -= count * place.cpus_per_unit * kCpuMillis;
    resources.memory_bytes -= count * place.memory_bytes_per_unit;
    if (place.devices_per_unit > 0) resources.devices[place.devices] -= count * place.devices_per_unit;
}

/// A unit's share of nine tenths of the memory of the node where that is smallest; 0: no node has room for a unit.
std::int64_t memory_share(const std::vector<FreeNode*>& nodes, const BatchPlace& place)
{
    std::int64_t least = 0;
    for (const FreeNode* one : nodes) {
        const std::int64_t units = fitting(one->node->allocatable, place);
        if (units == 0) continue;
        const std::int64_t share = one->node->allocatable.memory_bytes / 10 * 9 / units / kMebibyte * kMebibyte;
        least = least == 0 ? share : std::min(least, share);
    }
    return least;
}

ResourceDifference cluster_lack(const UnitCut& cut, const char* code, const char* field, std::int64_t wanted,
                                std::int64_t seen, const std::string& what)
{
    return {.code = code,
            .unit_type = cut.name,
            .field = field,
            .wanted = wanted,
            .seen = seen,
            .detail = "unit type \"" + cut.name + "\": " + what};
}

UnitTypeReport cluster_report(const UnitCut& cut, std::size_t nodes, const BatchPlace& place, const AgentTables& tables,
                              const ProbeAbilities& abilities)
{
    UnitTypeReport report;
    report.name = cut.name;
    report.resource_type = cut.resource_type;
    report.cores_per_unit = cut.cores_per_unit;
    report.memory_bytes_per_unit = place.memory_bytes_per_unit;
    const auto named = tables.operators.find(cut.resource_type);
    if (!cut.operators.empty())
        report.operators = cut.operators;
    else
        report.operators =
            named != tables.operators.end() ? named->second : offered_operators(cut.resource_type, abilities);
    // One pod has one process of MPI at most where a unit has one processor.
    if (place.cpus_per_unit < 2 && cut.operators.empty()) std::erase_if(report.operators, is_exchange_operator);
    report.facts = {{"nodes", nodes},
                    {"units_per_node", place.units_per_node},
                    {"last_level_cache_bytes", {{"absent", "Kubernetes tells no caches; a probe on a node does"}}}};
    if (!place.constraint.empty()) report.facts["node_labels"] = place.constraint;
    if (place.devices_per_unit > 0)
        report.facts["device"] = {{"model", place.devices}, {"count", place.devices_per_unit}};
    if (!cut.labels.empty()) report.facts["labels"] = cut.labels;
    return report;
}

/// Nodes that a cut is made of.
std::vector<FreeNode*> nodes_of(std::vector<FreeNode>& nodes, const UnitCut& cut, const BatchPlace& place)
{
    const std::map<std::string, std::string> wanted = parse_label_selector(cut.constraint).value();
    std::vector<FreeNode*> fitting_ones;
    for (FreeNode& one : nodes) {
        if (!has_labels(*one.node, wanted)) continue;
        const auto model = one.node->labels.find(kModelLabel);
        const bool is_model = cut.device_model.empty() || (model != one.node->labels.end() &&
                                                           model->second.find(cut.device_model) != std::string::npos);
        if (is_model && fitting(one.node->allocatable, place) > 0) fitting_ones.push_back(&one);
    }
    return fitting_ones;
}

/// What a unit of the cut asks for, but for its share of memory; or why there can be none.
Result<BatchPlace> place_of_cut(const UnitCut& cut, const NodeUnitOptions& options)
{
    BatchPlace place{.partition = {}, .constraint = cut.constraint, .cpus_per_unit = cut.cores_per_unit};
    place.memory_bytes_per_unit = cut.memory_bytes_per_unit;
    const Result<std::map<std::string, std::string>> labels = parse_label_selector(cut.constraint);
    if (!labels) return labels.error();
    if (cut.sharing != DeviceSharing::kNone || cut.cores_per_unit == 0)
        return Error{Errc::kInvalid, "a unit of a Kubernetes cluster has whole devices and a processor of its own"};
    if (cut.resource_type == "cpu") return place;
    const auto device = options.device_resources.find(cut.resource_type);
    if (device == options.device_resources.end())
        return Error{Errc::kInvalid,
                     "kubernetes_device_resources does not say what device plugins call " + cut.resource_type};
    place.devices = device->second;
    place.devices_per_unit = std::max<std::int64_t>(cut.devices_per_unit, 1);
    return place;
}

/// Takes units of the place from the nodes, as many as the cut is to have and there are numbers for.
UnitType take_type(const UnitCut& cut, const std::vector<FreeNode*>& nodes, BatchPlace place, std::int64_t& first)
{
    UnitType type;
    const std::int64_t most = cut.unit_count > 0 ? cut.unit_count : kMaxClusterUnits;
    place.units_per_node = 1;
    for (FreeNode* one : nodes) {
        place.units_per_node = std::max(place.units_per_node, fitting(one->node->allocatable, place));
        const std::int64_t room = std::min<std::int64_t>(kMaxClusterUnits - first, most - std::ssize(type.units));
        const std::int64_t count = std::min(fitting(one->free, place), room);
        take_units(one->free, place, count);
        for (std::int64_t i = 0; i < count; ++i)
            type.units.push_back(Unit{{first++}});
    }
    type.place = std::move(place);
    return type;
}

/// Adds the unit type of a cut, and what it lacks.
void add_type(const UnitCut& cut, UnitType type, std::size_t nodes, const AgentTables& tables,
              const ProbeAbilities& abilities, ReconciledUnits& units)
{
    const std::int64_t count = std::ssize(type.units);
    if (cut.unit_count > count)
        units.differences.push_back(cluster_lack(cut, "fewer_nodes", "unit_count", cut.unit_count, count,
                                                 "so many units do not fit beside what other pods request"));
    type.report = cluster_report(cut, nodes, *type.place, tables, abilities);
    type.report.unit_count = count;
    units.plan.push_back(std::move(type));
}

/// Values of labels as a unit type's name.
std::string type_name(const std::vector<std::string>& values)
{
    std::string name;
    for (const std::string& value : values) {
        for (const char c : value) {
            const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
            name += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
        }
        name += '-';
    }
    name = name.substr(0, kMaxTypeName);
    while (name.ends_with('-'))
        name.pop_back();
    return name.empty() ? "node" : name;
}

/// The GPUs' share of a node's processors, where the node has some.
std::int64_t processors_of_gpu(const FreeNode& one, const NodeUnitOptions& options)
{
    const auto cuda = options.device_resources.find("cuda");
    if (cuda == options.device_resources.end()) return 0;
    const std::int64_t gpus = devices_in(one.node->allocatable, cuda->second);
    return gpus <= 0 ? 0 : std::max<std::int64_t>(one.node->allocatable.cpu_millis / kCpuMillis / gpus, 1);
}

/// A table for each group of nodes that are alike.
std::vector<UnitCut> default_cluster_cuts(const std::vector<FreeNode>& nodes, const NodeUnitOptions& options)
{
    std::map<std::string, UnitCut> cuts; // by name
    for (const FreeNode& one : nodes) {
        UnitCut cut;
        std::vector<std::string> values;
        for (const std::string& label : options.unit_labels) {
            const auto found = one.node->labels.find(label);
            if (found == one.node->labels.end()) continue;
            values.push_back(found->second);
            cut.constraint += (cut.constraint.empty() ? "" : "&") + label + "=" + found->second;
        }
        cut.name = type_name(values);
        if (const std::int64_t processors = processors_of_gpu(one, options); processors > 0) {
            cut.name += "-gpu";
            cut.resource_type = "cuda";
            cut.devices_per_unit = 1;
            cut.cores_per_unit = processors;
        }
        const auto [at, is_new] = cuts.emplace(cut.name, cut);
        if (!is_new) at->second.cores_per_unit = std::min(at->second.cores_per_unit, cut.cores_per_unit);
    }
    std::vector<UnitCut> list;
    for (auto& [name, cut] : cuts) {
        if (list.size() < kMaxClusterTypes) list.push_back(std::move(cut));
    }
    // What has GPUs first: the processors beside them are theirs where other nodes have the same labels. Then what asks
    // for more labels: a node that lacks one is like those that have it, for who does not ask.
    const auto order = [](const UnitCut& cut) {
        return std::tuple(cut.resource_type == "cpu", -std::count(cut.constraint.begin(), cut.constraint.end(), '='),
                          std::string_view(cut.name));
    };
    std::sort(list.begin(), list.end(), [&](const UnitCut& a, const UnitCut& b) { return order(a) < order(b); });
    return list;
}

} // namespace

ReconciledUnits cut_cluster(const ClusterView& view, const AgentTables& tables, const ProbeAbilities& abilities,
                            const NodeUnitOptions& options)
{
    ReconciledUnits units;
    std::vector<FreeNode> nodes = free_nodes(view, options);
    std::int64_t first = 0;
    const std::vector<UnitCut> cuts =
        tables.unit_types.empty() ? default_cluster_cuts(nodes, options) : tables.unit_types;
    for (const UnitCut& cut : cuts) {
        Result<BatchPlace> place = place_of_cut(cut, options);
        if (!place) {
            units.differences.push_back(
                cluster_lack(cut, "not_supported", "resource_type", 0, 0, place.error().detail));
            continue;
        }
        const std::vector<FreeNode*> own = nodes_of(nodes, cut, *place);
        if (own.empty()) {
            units.differences.push_back(
                cluster_lack(cut, "fewer_nodes", "constraint", 1, 0,
                             "no usable node with the labels \"" + cut.constraint + "\" has room for one unit"));
            continue;
        }
        if (place->memory_bytes_per_unit == 0) place->memory_bytes_per_unit = memory_share(own, *place);
        UnitType type = take_type(cut, own, std::move(*place), first);
        add_type(cut, std::move(type), own.size(), tables, abilities, units);
    }
    return units;
}

std::vector<std::string> describe_cluster(const ClusterView& view, const NodeUnitOptions& options)
{
    std::vector<std::string> lines;
    for (const FreeNode& one : free_nodes(view, options)) {
        std::string line = one.node->name;
        for (const ClusterResources& resources : {one.node->allocatable, one.free}) {
            line += "|" + std::to_string(resources.cpu_millis) + "|" + std::to_string(resources.memory_bytes);
            for (const auto& [name, count] : resources.devices)
                line += "|" + name + "=" + std::to_string(count);
        }
        for (const auto& [name, value] : one.node->labels)
            line += "|" + name + "=" + value;
        lines.push_back(std::move(line));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

} // namespace fathom::agent
