#include "agent/executor/slurm/survey.hpp"

#include "agent/executor/slurm/batch_script.hpp"

#include <algorithm>
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

std::vector<std::string> operators_of(const UnitCut& cut, const AgentTables& tables, const ProbeAbilities& abilities)
{
    if (!cut.operators.empty()) return cut.operators;
    const auto named = tables.operators.find("cpu");
    return named == tables.operators.end() ? abilities.operators : named->second;
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
    if (place.units_per_node == 0) return place;
    place.cpus_per_unit = std::max<std::int64_t>(node_cpus / node_cores * cores, 1);
    place.memory_bytes_per_unit = cut.memory_bytes_per_unit;
    constexpr std::int64_t kNotConfigured = 1LL << 20U; // what Slurm assumes then
    if (place.memory_bytes_per_unit == 0 && node_memory > kNotConfigured)
        place.memory_bytes_per_unit = node_memory / place.units_per_node;
    return place;
}

/// @param first  the number of its first unit
Result<UnitType> make_type(const UnitCut& cut, const NodeList& nodes, std::int64_t cores, std::int64_t first,
                           const AgentTables& tables, const ProbeAbilities& abilities)
{
    if (cut.resource_type != "cpu" || cut.devices_per_unit > 0)
        return Error{Errc::kInvalid, "unit type \"" + cut.name +
                                         "\": devices of Slurm's nodes are not offered yet; leave out resource_type"};
    if (nodes.empty())
        return Error{Errc::kInvalid, "unit type \"" + cut.name + "\": no node of partition \"" + cut.partition +
                                         "\" has the features " + cut.constraint};
    UnitType type;
    BatchPlace place = place_of(nodes, cores, cut);
    if (place.units_per_node == 0)
        return Error{Errc::kInvalid, "unit type \"" + cut.name + "\": no node has " + std::to_string(cores) + " cores"};
    if (const Result<void> checked = check_batch_place(place); !checked) return checked.error();
    std::int64_t count = place.units_per_node * std::ssize(nodes);
    if (cut.unit_count > 0) count = std::min(count, cut.unit_count);
    count = std::min(count, kMaxUnits - first);
    for (std::int64_t i = 0; i < count; ++i)
        type.units.push_back(Unit{{first + i}});
    type.report.name = cut.name;
    type.report.unit_count = count;
    type.report.cores_per_unit = cores;
    type.report.memory_bytes_per_unit = place.memory_bytes_per_unit;
    type.report.operators = operators_of(cut, tables, abilities);
    type.report.facts = {{"partition", place.partition},
                         {"nodes", nodes.size()},
                         {"units_per_node", place.units_per_node},
                         {"features", nodes.front()->features}};
    if (!nodes.front()->gres.empty()) type.report.facts["gres"] = nodes.front()->gres;
    type.place = std::move(place);
    return type;
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

} // namespace

Result<UnitPlan> cut_nodes(const std::vector<SlurmNode>& nodes, const AgentTables& tables,
                           const ProbeAbilities& abilities)
{
    if (nodes.empty()) return Error{Errc::kInvalid, "Slurm has no node"};
    const NodeList offered = usable(nodes);
    const bool by_tables = !tables.unit_types.empty();
    UnitPlan plan;
    std::int64_t first = 0;
    for (UnitCut cut : by_tables ? tables.unit_types : default_cuts(offered)) {
        if (cut.partition.empty()) cut.partition = offered.front()->partition;
        NodeList fitting;
        for (const SlurmNode* node : offered) {
            const bool fits =
                by_tables ? has_features(*node, cut.constraint)
                          : node->features.size() == cut.constraint.size() && has_features(*node, cut.constraint);
            if (node->partition == cut.partition && fits) fitting.push_back(node);
        }
        Result<UnitType> type = make_type(cut, fitting, by_tables ? cut.cores_per_unit : 0, first, tables, abilities);
        if (!type) return type.error();
        first += type->report.unit_count;
        plan.push_back(std::move(*type));
    }
    return plan;
}

Result<CenterOffer> survey_slurm(const AgentConfig& config, const Json& executor_facts)
{
    const SlurmClient client(config.slurm, std::nullopt);
    const Result<std::vector<SlurmNode>> nodes = client.nodes();
    if (!nodes) return nodes.error();
    // Devices of this host are not those of the nodes.
    Result<UnitPlan> plan = cut_nodes(*nodes, config.tables, ask_probe_program(config, Host{}));
    if (!plan) return plan.error();
    CenterOffer offer;
    for (const UnitType& type : *plan)
        offer.catalog.unit_types.push_back(type.report);
    offer.catalog.facts = executor_facts;
    offer.plan = std::move(*plan);
    return offer;
}

} // namespace fathom::agent
