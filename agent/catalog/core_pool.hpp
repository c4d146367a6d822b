#pragma once

#include "agent/catalog/host.hpp"
#include "agent/config/unit_tables.hpp"

#include <map>
#include <optional>

namespace fathom::agent {

/// The processors that no unit has yet, by NUMA node, in the machine's order. Pure.
class CorePool {
  public:
    explicit CorePool(const Host& host);

    /// Cores or hardware threads of a unit of that cut: its own number, or for NumaRule::kWhole what the largest NUMA
    /// node has of which nothing was taken (0 when there is none).
    std::size_t unit_size(const UnitCut& cut) const;
    /// How many units of that size can still be taken.
    std::size_t fitting(const UnitCut& cut, std::size_t size) const;
    /// How many cores or hardware threads are left.
    std::size_t left(ProcessorKind kind) const;

    /// The processors of one unit; the caller has checked that one fits.
    /// @param near  the NUMA node to take them from where it has enough, for devices that are there.
    std::vector<std::int64_t> take(const UnitCut& cut, std::size_t size, std::optional<std::int64_t> near);

  private:
    struct Core {
        std::size_t processors{};       ///< that it has when nothing of it is taken
        std::vector<std::int64_t> cpus; ///< left
    };
    struct Node {
        std::vector<Core> cores;
        bool is_whole = true; ///< nothing was taken of it
    };

    static std::size_t left_of(const Node& node, ProcessorKind kind);
    static std::size_t take_from(Node& node, ProcessorKind kind, std::size_t count, std::vector<std::int64_t>& cpus);
    Node* best_node(const UnitCut& cut, std::size_t size, std::optional<std::int64_t> near);

    std::map<std::int64_t, Node> nodes_;
};

} // namespace fathom::agent
