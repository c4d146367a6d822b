#pragma once

#include "core/decide/routing/unit_type_list.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Part of core/decide/routing/route_columns.
namespace fathom {

bool is_sorted_by_operator(std::span<const MeasuredOperator> measured);

/// Which unit types offer each operator, and where its measurements stand in theirs: read once of all, so that nobody
/// has to search the lists of each unit type for each operator. Unit types whose lists are not in order of operators
/// are left out. Immutable.
class OperatorTable {
  public:
    explicit OperatorTable(const UnitTypeList& unit_types);

    /// Measurements of one operator in the list of a unit type.
    struct Measured {
        std::uint32_t unit_type{}; ///< index
        std::uint32_t first{};
        std::uint32_t count{}; ///< at least 1
    };
    /// In order of unit types.
    std::span<const Measured> measured(std::string_view operator_id) const;
    /// Indices of the unit types whose operators include this one, in order.
    std::span<const std::uint32_t> offering(std::string_view operator_id) const;
    bool has_measured(std::size_t unit_type) const { return has_measured_[unit_type] != 0; }
    bool has_offered(std::size_t unit_type) const { return has_offered_[unit_type] != 0; }

  private:
    void add_measured(std::uint32_t unit_type, std::span<const MeasuredOperator> list);
    void add_offered(std::uint32_t unit_type, std::span<const std::string> operators);

    std::map<std::string, std::vector<Measured>, std::less<>> measured_;
    std::map<std::string, std::vector<std::uint32_t>, std::less<>> offering_;
    // By unit type: 1 where its list is in order, so that it is here.
    std::vector<std::uint8_t> has_measured_;
    std::vector<std::uint8_t> has_offered_;
};

} // namespace fathom
