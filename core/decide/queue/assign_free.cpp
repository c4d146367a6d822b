#include "core/decide/queue/assign_free.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

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

/// Each job sends one unit of flow from the source, over a possible start or over the arc of those that go on waiting,
/// to the sink. Starts cost less the better they are.
class Flow {
  public:
    /// @param edges  at least one. Keeps them: they must outlive it.
    Flow(std::span<const PossibleStart> edges, std::span<const std::int64_t> free_units) : edges_(edges)
    {
        add_types(free_units);
        add_starts();
        const auto jobs = static_cast<std::int64_t>(job_nodes_.size());
        add(source_, sink_, jobs, 0); // those that go on waiting
        supply_[source_] = jobs;
        supply_[sink_] = -jobs;
    }

    /// The starts that have the flow of least cost.
    std::vector<PossibleStart> best() const
    {
        using Simplex = lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>;
        Simplex simplex(graph_);
        simplex.upperMap(capacity_).costMap(cost_).supplyMap(supply_);
        std::vector<PossibleStart> starts;
        if (simplex.run() != Simplex::OPTIMAL) return starts;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            if (simplex.flow(arcs_[i]) > 0) starts.push_back(edges_[i]);
        }
        return starts;
    }

  private:
    Graph::Arc add(Graph::Node from, Graph::Node to, std::int64_t most, std::int64_t price)
    {
        const Graph::Arc arc = graph_.addArc(from, to);
        capacity_[arc] = most;
        cost_[arc] = price;
        return arc;
    }
    void add_types(std::span<const std::int64_t> free_units)
    {
        for (const std::int64_t free : free_units) {
            type_nodes_.push_back(graph_.addNode());
            add(type_nodes_.back(), sink_, free, 0);
        }
    }
    void add_starts()
    {
        double least = edges_.front().index;
        for (const PossibleStart& edge : edges_)
            least = std::min(least, edge.index);
        for (const PossibleStart& edge : edges_) {
            const auto [node, is_new] = job_nodes_.try_emplace(edge.job, lemon::INVALID);
            if (is_new) {
                node->second = graph_.addNode();
                add(source_, node->second, 1, 0);
            }
            const double value = edge.index > 0 ? least / edge.index : 1;
            arcs_.push_back(
                add(node->second, type_nodes_[edge.unit_type], 1, -static_cast<std::int64_t>(value * kScale) - 1));
        }
    }

    std::span<const PossibleStart> edges_;
    Graph graph_;
    Graph::ArcMap<std::int64_t> capacity_{graph_};
    Graph::ArcMap<std::int64_t> cost_{graph_};
    Graph::Node source_ = graph_.addNode();
    Graph::Node sink_ = graph_.addNode();
    std::map<std::size_t, Graph::Node> job_nodes_;
    std::vector<Graph::Node> type_nodes_;
    std::vector<Graph::Arc> arcs_; ///< of the edges
    Graph::NodeMap<std::int64_t> supply_{graph_, 0};
};

} // namespace

std::vector<PossibleStart> assign_free(std::span<const PossibleStart> possible,
                                       std::span<const std::int64_t> free_units)
{
    const std::vector<PossibleStart> edges = best_of_each_type(possible, free_units);
    if (edges.empty()) return {};
    return Flow(edges, free_units).best();
}

} // namespace fathom
