#pragma once

#include "core/decide/routing/route.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What is known of one operator on all unit types; part of core/decide/routing/route.
namespace fathom {

/// An operator at one size on one unit.
struct OperatorTime {
    double execution_s{};
    double spread{1}; ///< upper end of the 80 % interval / execution_s
    const OperatorSpeedup* curve = nullptr;
    const LoadCurve* load = nullptr; ///< what neighbours cost it
    PredictionBasis basis{PredictionBasis::kUnknown};
};

/// Adds to a key (core/base/byte_key) which operator it is, and at which size.
void add_size(std::string& key, const OperatorDemand& demand);

/// The same on every unit type. What bounds are made of lies by itself: each new kind of job reads all of it.
struct OperatorColumn {
    std::vector<OperatorTime> times;
    /// Bounds that hold for any number of units: of one execution, and of its time summed over the units.
    std::vector<double> least_s;
    std::vector<double> least_unit_s;
    std::vector<std::uint8_t> is_offered;   ///< 1 where the unit type runs it at all
    std::vector<std::uint8_t> is_unknown;   ///< 1 where OperatorTime::basis says so
    std::vector<std::uint8_t> is_estimated; ///< 1 where OperatorTime::basis says so
    bool has_loads = false;                 ///< what neighbours cost it may be known somewhere; else nowhere

    explicit OperatorColumn(std::size_t size);
    /// What the other column says of a unit type of its list becomes that of one here.
    void take(std::size_t unit_type, const OperatorColumn& other, std::size_t from);
    /// What is predicted of this unit type.
    void set(std::size_t unit_type, const OperatorDemand& demand, const UnitTypeView& view, const ExecutionTime& one);
    /// Of one unit type.
    static constexpr std::size_t kBytes = sizeof(OperatorTime) + 2 * sizeof(double) + 3;
};

/// A known run carried over to every unit type (predict_run), and how its parts are divided among units.
struct KnownRunColumn {
    std::vector<RunTime> times;                                   ///< on one unit
    std::vector<double> parts;                                    ///< of each unit type the times of all parts
    std::vector<std::uint8_t> estimated;                          ///< parts that were never measured there; at most 255
    std::vector<std::shared_ptr<const OperatorColumn>> operators; ///< of the parts, for their curves

    double part(std::size_t unit_type, std::size_t index) const { return parts[unit_type * operators.size() + index]; }
};

} // namespace fathom
