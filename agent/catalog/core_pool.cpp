#include "agent/catalog/core_pool.hpp"

#include <algorithm>

namespace fathom::agent {

CorePool::CorePool(const Host& host)
{
    for (const HostCore& core : host.cores)
        nodes_[core.numa_node].cores.push_back({core.cpus.size(), core.cpus});
}

std::size_t CorePool::left_of(const Node& node, ProcessorKind kind)
{
    std::size_t count = 0;
    for (const Core& core : node.cores) {
        if (kind == ProcessorKind::kThread) count += core.cpus.size();
        if (kind == ProcessorKind::kCore && core.cpus.size() == core.processors) ++count;
    }
    return count;
}

std::size_t CorePool::left(ProcessorKind kind) const
{
    std::size_t count = 0;
    for (const auto& [number, node] : nodes_)
        count += left_of(node, kind);
    return count;
}

std::size_t CorePool::unit_size(const UnitCut& cut) const
{
    if (cut.numa != NumaRule::kWhole) return static_cast<std::size_t>(cut.cores_per_unit);
    std::size_t largest = 0;
    for (const auto& [number, node] : nodes_) {
        if (node.is_whole) largest = std::max(largest, left_of(node, cut.processors));
    }
    return largest;
}

std::size_t CorePool::fitting(const UnitCut& cut, std::size_t size) const
{
    if (size == 0) return 0;
    if (cut.numa == NumaRule::kPrefer) return left(cut.processors) / size;
    std::size_t units = 0;
    for (const auto& [number, node] : nodes_) {
        const std::size_t count = left_of(node, cut.processors);
        if (cut.numa == NumaRule::kWhole)
            units += node.is_whole && count == size ? 1 : 0;
        else
            units += count / size;
    }
    return units;
}

/// The one with the fewest left that still has enough: larger ones stay for larger units.
CorePool::Node* CorePool::best_node(const UnitCut& cut, std::size_t size, std::optional<std::int64_t> near)
{
    Node* best = nullptr;
    std::size_t least = 0;
    for (auto& [number, node] : nodes_) {
        const std::size_t count = left_of(node, cut.processors);
        if (count < size || (cut.numa == NumaRule::kWhole && (!node.is_whole || count != size))) continue;
        if (near == number) return &node;
        if (best != nullptr && count >= least) continue;
        best = &node;
        least = count;
    }
    return best;
}

std::vector<std::int64_t> CorePool::take(const UnitCut& cut, std::size_t size, std::optional<std::int64_t> near)
{
    std::vector<std::int64_t> cpus;
    if (Node* const node = best_node(cut, size, near)) {
        take_from(*node, cut.processors, size, cpus);
    } else {
        for (auto& [number, part] : nodes_)
            size -= take_from(part, cut.processors, size, cpus);
    }
    std::sort(cpus.begin(), cpus.end());
    return cpus;
}

/// @return how many cores or hardware threads it took: at most `count`.
std::size_t CorePool::take_from(Node& node, ProcessorKind kind, std::size_t count, std::vector<std::int64_t>& cpus)
{
    std::size_t taken = 0;
    for (Core& core : node.cores) {
        if (taken == count) break;
        if (kind == ProcessorKind::kCore && core.cpus.size() != core.processors) continue;
        const std::size_t some =
            kind == ProcessorKind::kCore ? core.cpus.size() : std::min(core.cpus.size(), count - taken);
        const auto end = core.cpus.begin() + static_cast<std::ptrdiff_t>(some);
        cpus.insert(cpus.end(), core.cpus.begin(), end);
        core.cpus.erase(core.cpus.begin(), end);
        taken += kind == ProcessorKind::kCore ? 1 : some;
    }
    std::erase_if(node.cores, [](const Core& core) { return core.cpus.empty(); });
    if (taken > 0) node.is_whole = false;
    return taken;
}

} // namespace fathom::agent
