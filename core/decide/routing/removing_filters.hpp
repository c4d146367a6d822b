#pragma once

#include "core/decide/routing/route_columns.hpp"

#include <cstdint>
#include <vector>

/// Part of core/decide/routing/route.
namespace fathom {

/// removing_filter() of many unit types for one request, to the same end: most requests ask for facts only, and then
/// unit types of one group (FactGroups) have one answer.
class RemovingFilters {
  public:
    /// All must outlive it, and of the columns the facts must stay as they are.
    /// @param unit_types  those of the columns.
    RemovingFilters(const RouteRequest& request, const UnitTypeList& unit_types, RouteColumns& columns);

    /// The Filter that removes the unit type; kFilterCount: none does.
    std::uint8_t of(std::size_t unit_type, bool runs_operators) const
    {
        if (group_of_ == nullptr) return ask(unit_type, runs_operators);
        return runs_operators ? of_groups_[group_of_[unit_type]] : static_cast<std::uint8_t>(Filter::kOperators);
    }

  private:
    std::uint8_t ask(std::size_t unit_type, bool runs_operators) const;

    const RouteRequest* request_;
    const UnitTypeList* unit_types_;
    const RouteColumns* columns_;
    const std::uint32_t* group_of_ = nullptr; ///< by unit type; nullptr: each must be asked
    std::vector<std::uint8_t> of_groups_;     ///< where all operators run
};

} // namespace fathom
