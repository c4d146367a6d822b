#pragma once

#include "core/decide/routing/unit_type_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Part of core/decide/routing/route.
namespace fathom {

/// The unit types of a list in order of their ids and of their names; those that go by their places in the list.
class UnitTypeOrder {
  public:
    UnitTypeOrder() = default;
    explicit UnitTypeOrder(const UnitTypeList& unit_types);

    /// By unit type: its place in order of ids.
    const std::vector<std::uint32_t>& id_rank() const { return id_rank_; }
    /// Unit types in order of center's name, name, id.
    const std::vector<std::uint32_t>& by_center() const { return by_center_; }
    /// By unit type: the number of its center's name, in order of names.
    const std::vector<std::uint32_t>& center_rank() const { return center_rank_; }
    std::size_t center_count() const { return by_center_.empty() ? 0 : center_rank_[by_center_.back()] + 1U; }
    /// The unit types of the center with that number.
    std::span<const std::uint32_t> of_center(std::uint32_t center_rank) const;

  private:
    std::vector<std::uint32_t> id_rank_;
    std::vector<std::uint32_t> by_center_;
    std::vector<std::uint32_t> center_rank_;
};

} // namespace fathom
