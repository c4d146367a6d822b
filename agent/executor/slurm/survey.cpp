#include "agent/executor/slurm/survey.hpp"

#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/gres.hpp"
#include "agent/executor/slurm/leaf_switches.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxUnits = 65'536; ///< of all types together: each has a number of its own
constexpr std::size_t kMaxUnitTypes = 100;

using NodeList = std::vector<const SlurmNode*>;

/// A word of features as part of a name.
std::string as_name(std::string features)
{
    std::replace(features.begin(), features.end(), ',', '-');
    return features;
}

bool has_features(const SlurmNode& node, const std::string& constraint)
{
    const std::string all = "," + node.features + ",";
    for (std::size_t begin = 0; begin < constraint.size();) {
        const std::size_t end = std::min(constraint.find('&', begin), constraint.size());
        if (all.find("," + constraint.substr(begin, end - begin) + ",") == std::string::npos) return false;
        begin = end + 1;
    }
    return true;
}

bool has_gpus(const UnitCut& cut)
{
    return cut.resource_type == "cuda";
}

std::vector<std::string> operators_of(const UnitCut& cut, const AgentTables& tables, const ProbeAbilities& abilities)
{
    if (!cut.operators.empty()) return cut.operators;
    const auto named = tables.operators.find(cut.resource_type);
    return named == tables.operators.end() ? offered_operators(cut.resource_type, abilities) : named->second;
}

/// The demand of a unit of so many cores on the smallest of these nodes. `cores` 0: the whole node.
BatchPlace place_of(const NodeList& nodes, std::int64_t& cores, const UnitCut& cut)
{
    const auto least = [&](auto value) {
        std::int64_t smallest = value(*nodes.front());
        for (const SlurmNode* node : nodes)
            smallest = std::min(smallest, value(*node));
        return smallest;
    };
    const std::int64_t node_cores = least([](const SlurmNode& node) { return node.cores; });
    const std::int64_t node_cpus = least([](const SlurmNode& node) { return node.cpus; });
    const std::int64_t node_memory = least([](const SlurmNode& node) { return node.memory_bytes; });
    if (cores == 0) cores = node_cores;
    BatchPlace place{.partition = nodes.front()->partition, .constraint = cut.constraint};
    place.units_per_node = node_cores / cores;
    if (has_gpus(cut)) {
        const SlurmDevices gpus = gpus_of(*nodes.front(), cut.device_model).value_or(SlurmDevices());
        place.devices = gpus.name + (gpus.type.empty() ? "" : ":" + gpus.type);
        place.devices_per_unit = cut.devices_per_unit;
        const std::int64_t node_gpus = least(
            [&](const SlurmNode& node) { return gpus_of(node, cut.device_model).value_or(SlurmDevices()).count; });
        place.units_per_node = std::min(place.units_per_node, node_gpus / cut.devices_per_unit);
    }
    if (place.units_per_node == 0) return place;
    place.units_per_switch = most_below_a_switch(nodes) * place.units_per_node;
    place.cpus_per_unit = std::max<std::int64_t>(node_cpus / node_cores * cores, 1);
    place.memory_bytes_per_unit = cut.memory_bytes_per_unit;
    constexpr std::int64_t kNotConfigured = 1LL << 20U; // what Slurm assumes then
    if (place.memory_bytes_per_unit == 0 && node_memory > kNotConfigured)
        place.memory_bytes_per_unit = node_memory / place.units_per_node;
    return place;
}

/// A type, or what it lacks; of a type with fewer units than it is to have both.
struct TypeCut {
    std::optional<UnitType> type{};
    std::optional<ResourceDifference> lack{};
};

TypeCut lacking(const UnitCut& cut, std::string code, std::string field, std::int64_t wanted, const std::string& what)
{
    return {.lack = ResourceDifference{.code = std::move(code),
                                       .unit_type = cut.name,
                                       .field = std::move(field),
                                       .wanted = wanted,
                                       .detail = "unit type \"" + cut.name + "\": " + what}};
}

/// Where its units are to run, or why there is no such place.
std::optional<TypeCut> find_place(const UnitCut& cut, const NodeList& nodes, std::int64_t& cores, BatchPlace& place)
{
    if (cut.resource_type != "cpu" && !has_gpus(cut))
        return lacking(
            cut, "not_supported", "resource_type", 0,
            "of the devices of Slurm's nodes GPUs are offered only; set resource_type to cuda, or leave it out");
    if (has_gpus(cut) && (cut.sharing != DeviceSharing::kNone || cut.cores_per_unit == 0))
        return lacking(cut, "not_supported", "sharing", 0,
                       "a unit on Slurm's nodes has whole GPUs and a core of its own");
    if (nodes.empty())
        return lacking(cut, "fewer_nodes", "partition", 1,
                       "no node of partition \"" + cut.partition + "\" has the features " + cut.constraint +
                           (has_gpus(cut) ? " and " + std::to_string(cut.devices_per_unit) + " GPUs " + cut.device_model
                                          : std::string()));
    place = place_of(nodes, cores, cut);
    if (place.units_per_node == 0)
        return lacking(cut, "fewer_cores", "cores_per_unit", cores, "no node has " + std::to_string(cores) + " cores");
    if (const Result<void> checked = check_batch_place(place); !checked)
        return lacking(cut, "not_supported", "constraint", 0, checked.error().detail);
    return std::nullopt;
}

/// How units are numbered, and how many cores of each partition may still be offered.
struct Numbering {
    std::int64_t first{}; ///< number of the next unit
    std::optional<std::map<std::string, std::int64_t>> cores_left{};

    std::int64_t most(const std::string& partition, std::int64_t cores) const
    {
        const std::int64_t numbers = kMaxUnits - first;
        if (!cores_left) return numbers;
        const auto left = cores_left->find(partition);
        return std::min(numbers, left == cores_left->end() ? 0 : left->second / cores);
    }
    void take(const std::string& partition, std::int64_t units, std::int64_t cores)
    {
        first += units;
        if (cores_left) (*cores_left)[partition] -= units * cores;
    }
};

UnitTypeReport report_of(const UnitCut& cut, const NodeList& nodes, const BatchPlace& place, const AgentTables& tables,
                         const ProbeAbilities& abilities)
{
    UnitTypeReport report;
    report.name = cut.name;
    report.resource_type = cut.resource_type;
    report.memory_bytes_per_unit = place.memory_bytes_per_unit;
    report.operators = operators_of(cut, tables, abilities);
    // One of them has no two processes. Whoever names such operators means several of them, on several nodes.
    const bool names_operators = !cut.operators.empty() || tables.operators.contains(cut.resource_type);
    if (place.cpus_per_unit < 2 && !names_operators) std::erase_if(report.operators, is_exchange_operator);
    report.facts = {{"partition", place.partition},
                    {"nodes", nodes.size()},
                    {"units_per_node", place.units_per_node},
                    {"features", nodes.front()->features},
                    {"leaf_switches", leaf_switch_facts(nodes, place.units_per_node)},
                    {"last_level_cache_bytes", {{"absent", "Slurm tells no caches; a probe on a node does"}}}};
    if (nodes.front()->max_wall_s > 0) report.facts["max_wall_s"] = nodes.front()->max_wall_s;
    if (!nodes.front()->gres.empty()) report.facts["gres"] = nodes.front()->gres;
    if (place.devices_per_unit > 0)
        report.facts["device"] = {{"model", place.devices}, {"count", place.devices_per_unit}};
    if (!cut.labels.empty()) report.facts["labels"] = cut.labels;
    return report;
}

TypeCut make_type(const UnitCut& cut, const NodeList& nodes, std::int64_t cores, Numbering& numbering,
                  const AgentTables& tables, const ProbeAbilities& abilities)
{
    BatchPlace place;
    if (std::optional<TypeCut> none = find_place(cut, nodes, cores, place)) return *none;
    TypeCut made{.type = UnitType()};
    std::int64_t count = place.units_per_node * std::ssize(nodes);
    count = std::min(count, numbering.most(cut.partition, cores));
    if (cut.unit_count > count)
        made.lack = ResourceDifference{.code = "fewer_nodes",
                                       .unit_type = cut.name,
                                       .field = "unit_count",
                                       .wanted = cut.unit_count,
                                       .seen = count,
                                       .detail = "unit type \"" + cut.name + "\" is to have " +
                                                 std::to_string(cut.unit_count) + " units, but only " +
                                                 std::to_string(count) + " fit on the nodes that may be offered"};
    if (cut.unit_count > 0) count = std::min(count, cut.unit_count);
    for (std::int64_t i = 0; i < count; ++i)
        made.type->units.push_back(Unit{{numbering.first + i}});
    numbering.take(cut.partition, count, cores);
    made.type->report = report_of(cut, nodes, place, tables, abilities);
    made.type->report.unit_count = count;
    made.type->report.cores_per_unit = cores;
    made.type->place = std::move(place);
    return made;
}

/// A table for each partition and set of features.
std::vector<UnitCut> default_cuts(const NodeList& nodes)
{
    std::vector<UnitCut> cuts;
    std::set<std::pair<std::string, std::string>> seen;
    for (const SlurmNode* node : nodes) {
        if (cuts.size() == kMaxUnitTypes || !seen.emplace(node->partition, node->features).second) continue;
        UnitCut cut;
        cut.name = node->partition + (node->features.empty() ? "" : "-" + as_name(node->features));
        cut.partition = node->partition;
        cut.constraint = node->features;
        std::replace(cut.constraint.begin(), cut.constraint.end(), ',', '&');
        cuts.push_back(std::move(cut));
    }
    return cuts;
}

NodeList usable(const std::vector<SlurmNode>& nodes)
{
    NodeList usable_ones;
    NodeList all;
    for (const SlurmNode& node : nodes) {
        all.push_back(&node);
        if (node.is_usable) usable_ones.push_back(&node);
    }
    return usable_ones.empty() ? all : usable_ones;
}

/// Whether a cut is made of this node, too. What no table names is made of nodes that are alike.
bool is_of(const UnitCut& cut, const SlurmNode& node, bool by_tables)
{
    if (node.partition != cut.partition || !has_features(node, cut.constraint)) return false;
    return by_tables || node.features.size() == cut.constraint.size();
}

/// Cuts the nodes as the tables say, type by type.
ReconciledUnits cut_that_fits(const std::vector<SlurmNode>& nodes, const AgentTables& tables,
                              const ProbeAbilities& abilities, Numbering numbering)
{
    ReconciledUnits units;
    if (nodes.empty()) return units;
    const NodeList offered = usable(nodes);
    const bool by_tables = !tables.unit_types.empty();
    for (UnitCut cut : by_tables ? tables.unit_types : default_cuts(offered)) {
        if (cut.partition.empty()) cut.partition = offered.front()->partition;
        NodeList fitting;
        std::copy_if(offered.begin(), offered.end(), std::back_inserter(fitting),
                     [&](const SlurmNode* node) { return is_of(cut, *node, by_tables); });
        if (has_gpus(cut)) fitting = with_gpus(fitting, cut.device_model, cut.devices_per_unit);
        TypeCut made = make_type(cut, fitting, by_tables ? cut.cores_per_unit : 0, numbering, tables, abilities);
        if (made.type) units.plan.push_back(std::move(*made.type));
        if (made.lack) units.differences.push_back(std::move(*made.lack));
    }
    return units;
}

/// Of the operators that unit types name those that the file allows; the file's own are believed as they stand.
void keep_allowed_operators(UnitPlan& plan, const AgentTables& file, const ProbeAbilities& abilities)
{
    const std::vector<std::string> allowed = operators_of({}, file, abilities);
    for (UnitType& type : plan)
        std::erase_if(type.report.operators, [&](const std::string& id) {
            return std::find(allowed.begin(), allowed.end(), id) == allowed.end();
        });
}

/// Whether a node that has the features of `wanted` has those of `own`, too.
bool implies(const std::string& wanted, const std::string& own)
{
    SlurmNode node;
    node.features = wanted;
    std::replace(node.features.begin(), node.features.end(), '&', ',');
    return has_features(node, own);
}

/// The cores that units of each partition have.
std::map<std::string, std::int64_t> cores_by_partition(const UnitPlan& plan)
{
    std::map<std::string, std::int64_t> cores;
    for (const UnitType& type : plan)
        cores[type.place->partition] += type.report.unit_count * type.report.cores_per_unit;
    return cores;
}

std::map<std::string, std::int64_t> cores_by_partition(const std::vector<SlurmNode>& nodes)
{
    std::map<std::string, std::int64_t> cores;
    for (const SlurmNode* node : usable(nodes))
        cores[node->partition] += node->cores;
    return cores;
}

/// Why the file does not allow a type; empty: it does.
std::optional<ResourceDifference> find_forbidden(const UnitCut& wanted, const AgentTables& file,
                                                 const std::string& first_partition)
{
    const auto allows = [&](const UnitCut& own) {
        const std::string& partition = own.partition.empty() ? first_partition : own.partition;
        return partition == wanted.partition && implies(wanted.constraint, own.constraint);
    };
    const std::vector<UnitCut>& cuts = file.unit_types;
    if (cuts.empty() || std::any_of(cuts.begin(), cuts.end(), allows)) return std::nullopt;
    return ResourceDifference{.code = "not_permitted",
                              .unit_type = wanted.name,
                              .field = "partition",
                              .detail = "unit type \"" + wanted.name +
                                        "\" is not offered: the agent's file has none of "
                                        "partition \"" +
                                        wanted.partition + "\" for nodes with the features \"" + wanted.constraint +
                                        "\"; remote_resources = \"machine\" allows it"};
}

} // namespace

Result<UnitPlan> cut_nodes(const std::vector<SlurmNode>& nodes, const AgentTables& tables,
                           const ProbeAbilities& abilities)
{
    if (nodes.empty()) return Error{Errc::kInvalid, "Slurm has no node"};
    ReconciledUnits units = cut_that_fits(nodes, tables, abilities, {});
    for (const ResourceDifference& difference : units.differences) {
        if (difference.field != "unit_count") return Error{Errc::kInvalid, difference.detail};
    }
    return std::move(units.plan);
}

ReconciledUnits reconcile_nodes(const std::vector<SlurmNode>& nodes, const AgentTables& file,
                                const std::vector<UnitCut>& wanted, RemoteRule rule, const ProbeAbilities& abilities)
{
    ReconciledUnits own = cut_that_fits(nodes, file, abilities, {});
    if (wanted.empty() || rule == RemoteRule::kOff || nodes.empty()) return own;
    if (!file.sub_units.empty()) {
        own.differences.push_back({.code = "kept_by_file",
                                   .detail = "all unit types are as the agent's file says: sub-units of this center go "
                                             "to others"});
        return own;
    }
    const bool is_within = rule == RemoteRule::kWithin && !file.unit_types.empty();
    const Numbering numbering{.cores_left = is_within ? cores_by_partition(own.plan) : cores_by_partition(nodes)};
    const std::string first_partition = usable(nodes).front()->partition;
    ReconciledUnits result;
    AgentTables tables = file;
    tables.unit_types.clear();
    for (UnitCut cut : wanted) {
        if (cut.partition.empty()) cut.partition = first_partition;
        std::optional<ResourceDifference> forbidden;
        if (rule == RemoteRule::kWithin) forbidden = find_forbidden(cut, file, first_partition);
        if (!forbidden && has_gpus(cut))
            forbidden = lacking(cut, "not_supported", "resource_type", 0,
                                "GPUs of Slurm's nodes are offered by the agent's file only")
                            .lack;
        if (forbidden)
            result.differences.push_back(std::move(*forbidden));
        else
            tables.unit_types.push_back(std::move(cut));
    }
    if (tables.unit_types.empty()) return result; // without tables each partition would be offered
    ReconciledUnits cut = cut_that_fits(nodes, tables, abilities, numbering);
    result.plan = std::move(cut.plan);
    keep_allowed_operators(result.plan, file, abilities);
    const std::vector<ResourceDifference> missing = operator_differences(wanted, result.plan);
    result.differences.insert(result.differences.end(), cut.differences.begin(), cut.differences.end());
    result.differences.insert(result.differences.end(), missing.begin(), missing.end());
    return result;
}

std::vector<std::string> describe_nodes(const std::vector<SlurmNode>& nodes)
{
    std::vector<std::string> lines;
    lines.reserve(nodes.size());
    for (const SlurmNode& node : nodes) {
        lines.push_back(node.partition + "|" + node.name + "|" + std::to_string(node.cpus) + "|" +
                        std::to_string(node.cores) + "|" + std::to_string(node.memory_bytes) + "|" + node.features +
                        "|" + node.gres + "|" + (node.is_usable ? "usable" : "not usable") + "|" +
                        std::to_string(node.max_wall_s));
        for (const std::string& leaf : node.leaf_switches)
            lines.back() += "|" + leaf;
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

Result<Hardware> look_at_slurm(const AgentConfig& config, SlurmNodeDetails& details)
{
    const Result<std::vector<SlurmNode>> nodes = SlurmClient(config.slurm, std::nullopt).nodes(details);
    if (!nodes) return nodes.error();
    Hardware seen;
    seen.nodes = describe_nodes(*nodes);
    return seen;
}

Result<CenterOffer> survey_slurm(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order,
                                 SlurmNodeDetails& details)
{
    const SlurmClient client(config.slurm, std::nullopt);
    const Result<std::vector<SlurmNode>> nodes = client.nodes(details);
    if (!nodes) return nodes.error();
    // Devices of this host are not those of the nodes.
    const ProbeAbilities abilities = ask_probe_program(config, Host{});
    if (order.rule == CutRule::kMustFit) {
        if (const Result<UnitPlan> fits = cut_nodes(*nodes, config.tables, abilities); !fits) return fits.error();
    }
    ReconciledUnits units = reconcile_nodes(*nodes, config.tables, order.wanted, config.remote_resources, abilities);
    return make_offer(std::move(units), executor_facts, config.remote_resources);
}

} // namespace fathom::agent
