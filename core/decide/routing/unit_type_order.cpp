#include "core/decide/routing/unit_type_order.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace fathom {

UnitTypeOrder::UnitTypeOrder(const UnitTypeList& unit_types)
{
    const std::size_t size = unit_types.size();
    id_rank_.resize(size);
    by_center_.resize(size);
    std::vector<std::uint32_t> by_id(size);
    std::iota(by_id.begin(), by_id.end(), 0U);
    by_center_ = by_id;
    std::sort(by_id.begin(), by_id.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(unit_types[a].id, a) < std::tie(unit_types[b].id, b);
    });
    for (std::size_t rank = 0; rank < by_id.size(); ++rank)
        id_rank_[by_id[rank]] = static_cast<std::uint32_t>(rank);
    std::sort(by_center_.begin(), by_center_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(unit_types[a].center_name, unit_types[a].name, unit_types[a].id) <
               std::tie(unit_types[b].center_name, unit_types[b].name, unit_types[b].id);
    });
    center_rank_.resize(size);
    for (std::size_t i = 1; i < by_center_.size(); ++i) {
        const bool is_same = unit_types[by_center_[i]].center_name == unit_types[by_center_[i - 1]].center_name;
        center_rank_[by_center_[i]] = center_rank_[by_center_[i - 1]] + (is_same ? 0 : 1);
    }
}

std::span<const std::uint32_t> UnitTypeOrder::of_center(std::uint32_t center_rank) const
{
    const auto first = std::partition_point(by_center_.begin(), by_center_.end(), [&](std::uint32_t unit_type) {
        return center_rank_[unit_type] < center_rank;
    });
    const auto last = std::partition_point(
        first, by_center_.end(), [&](std::uint32_t unit_type) { return center_rank_[unit_type] == center_rank; });
    return {first, last};
}

} // namespace fathom
