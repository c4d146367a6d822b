#include "core/decide/queue/assign_free.hpp"

#include <algorithm>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>
#include <map>
#include <numeric>
#include <tuple>

namespace fathom {
namespace {

using Graph = lemon::SmartDigraph;

constexpr double kScale = 1e12; ///< costs are whole numbers, so that the result is the same everywhere

/// For each type as many of the best as there are free units at all: with more, one of the better ones would be left
/// over and could take the place.
std::vector<PossibleStart> best_of_each_type(std::span<const PossibleStart> possible,
                                             std::span<const std::int64_t> free_units)
{
    const std::int64_t most = std::accumulate(free_units.begin(), free_units.end(), std::int64_t{0});
    std::vector<std::vector<const PossibleStart*>> by_type(free_units.size());
    for (const PossibleStart& one : possible) {
        if (free_units[one.unit_type] > 0) by_type[one.unit_type].push_back(&one);
    }
    std::vector<PossibleStart> result;
    for (std::vector<const PossibleStart*>& line : by_type) {
        const auto wanted = std::min(std::ssize(line), most);
        std::partial_sort(line.begin(), line.begin() + wanted, line.end(),
                          [](const PossibleStart* a, const PossibleStart* b) {
                              return std::tie(a->index, a) < std::tie(b->index, b);
                          });
        for (const PossibleStart* one : std::span(line).first(static_cast<std::size_t>(wanted)))
            result.push_back(*one);
    }
    return result;
}

} // namespace

std::vector<PossibleStart> assign_free(std::span<const PossibleStart> possible,
                                       std::span<const std::int64_t> free_units)
{
    const std::vector<PossibleStart> edges = best_of_each_type(possible, free_units);
    if (edges.empty()) return {};
    double least = edges.front().index;
    for (const PossibleStart& edge : edges)
        least = std::min(least, edge.index);

    Graph graph;
    const Graph::Node source = graph.addNode();
    const Graph::Node sink = graph.addNode();
    std::map<std::size_t, Graph::Node> job_nodes;
    std::vector<Graph::Arc> arcs;
    Graph::ArcMap<std::int64_t> capacity(graph);
    Graph::ArcMap<std::int64_t> cost(graph);
    const auto add = [&](Graph::Node from, Graph::Node to, std::int64_t most, std::int64_t price) {
        const Graph::Arc arc = graph.addArc(from, to);
        capacity[arc] = most;
        cost[arc] = price;
        return arc;
    };
    std::vector<Graph::Node> type_nodes;
    for (const std::int64_t free : free_units) {
        type_nodes.push_back(graph.addNode());
        add(type_nodes.back(), sink, free, 0);
    }
    for (const PossibleStart& edge : edges) {
        const auto [node, is_new] = job_nodes.try_emplace(edge.job, lemon::INVALID);
        if (is_new) {
            node->second = graph.addNode();
            add(source, node->second, 1, 0);
        }
        const double value = edge.index > 0 ? least / edge.index : 1;
        arcs.push_back(
            add(node->second, type_nodes[edge.unit_type], 1, -static_cast<std::int64_t>(value * kScale) - 1));
    }
    const auto jobs = static_cast<std::int64_t>(job_nodes.size());
    add(source, sink, jobs, 0); // those that go on waiting
    Graph::NodeMap<std::int64_t> supply(graph, 0);
    supply[source] = jobs;
    supply[sink] = -jobs;

    lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t> simplex(graph);
    simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
    std::vector<PossibleStart> starts;
    if (simplex.run() != lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>::OPTIMAL) return starts;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (simplex.flow(arcs[i]) > 0) starts.push_back(edges[i]);
    }
    return starts;
}

} // namespace fathom
