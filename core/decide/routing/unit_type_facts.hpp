#pragma once

#include "core/decide/routing/unit_type_view.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What decisions ask of every unit type; part of core/decide/routing/route.
namespace fathom {

/// What filters and bounds ask of a unit type and what neither time nor load changes. Views are large and lie apart,
/// and in a large network most are asked for nothing else.
struct UnitTypeFacts {
    std::int64_t memory_bytes_per_unit{};
    std::int64_t gpu_memory_bytes{};
    std::int64_t unit_count{};
    std::int64_t max_wall_s{}; ///< 0: a job may run as long as it likes
    std::int64_t units_per_device{1};
    double trust_factor{1};
    double least_cost_per_s{}; ///< of one unit in its cheapest hour
    double power_w{};          ///< of one unit
    double least_s_per_byte{}; ///< of its network in its best hour
    double queued_s{};         ///< UnitTypeView::queued_s
    bool has_network{};        ///< something is known of it
    bool has_own_hours{};      ///< and its hours are not those of prices
    bool is_device{};          ///< no processor
    bool takes_work{};         ///< else `closed_by` says why not
    bool is_open_to_probes{};  ///< all the same
    Filter closed_by{Filter::kDrain};

    UnitTypeFacts() = default;
    explicit UnitTypeFacts(const UnitTypeView& view);

    bool operator==(const UnitTypeFacts&) const = default;
    /// Units that a job gets at least.
    std::int64_t least_count_for(const UnitRequest& units) const
    {
        return granted_units(units, units.count.value_or(units.min), units_per_device);
    }
};

/// What bounds ask of all unit types, each fact by itself.
struct FactColumns {
    std::vector<double> trust_factor;
    std::vector<double> least_cost_per_s;
    std::vector<double> power_w;
    std::vector<double> least_s_per_byte;
    std::vector<std::uint8_t> has_network;
    std::vector<std::uint8_t> has_own_hours;

    void resize(std::size_t size);
    void set(std::size_t unit_type, const UnitTypeFacts& facts);
};

/// Unit types by what filters ask of their facts: in a large network many are alike, and have one answer.
class FactGroups {
  public:
    explicit FactGroups(std::span<const UnitTypeFacts> facts);
    void set(std::size_t unit_type, const UnitTypeFacts& facts);

    /// By unit type: the number of its group.
    const std::vector<std::uint32_t>& group_of() const { return group_of_; }
    /// By group: one of its unit types' facts; those that no filter asks for may be others elsewhere.
    const std::vector<UnitTypeFacts>& facts() const { return facts_; }

  private:
    std::vector<std::uint32_t> group_of_;
    std::vector<UnitTypeFacts> facts_;
};

} // namespace fathom
