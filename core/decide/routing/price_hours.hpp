#pragma once

#include "core/base/clock.hpp"
#include "core/decide/routing/unit_type_list.hpp"

#include <array>
#include <cstdint>
#include <vector>

/// Part of core/decide/routing/route_columns.
namespace fathom {

/// What a second of one unit of each type costs at least, on average, in runs of any length, by the hour in which they
/// start. Hours are those of prices, of UTC.
class PriceHours {
  public:
    /// Of starts in the hour of `now`, in the one after it, and later.
    static constexpr std::size_t kHours = 3;
    /// Of starts that are no later than in the hour of this number, counted from that of `now`.
    static constexpr std::size_t kMaxLast = 8;

    PriceHours() = default;
    PriceHours(const UnitTypeList& unit_types, Timestamp now);

    bool is_of(Timestamp now) const;
    /// @param hour  below kHours
    const std::vector<double>& per_s(std::size_t hour) const { return hour + 1 < kHours ? of_hour_[hour] : least_; }
    /// Makes what per_s_until() needs, which few decisions ask for. Once it is made, nothing happens.
    /// @param unit_types  of the same prices
    void make_all(const UnitTypeList& unit_types);
    /// Of all starts, where none is later than in hour number `last`. Only after make_all().
    double per_s_until(std::size_t last, std::size_t unit_type) const;
    /// One price at any time.
    void set(std::size_t unit_type, double cost_per_s);

  private:
    void make(const UnitTypeList& unit_types, std::size_t first, std::size_t end);

    Timestamp from_; ///< of its first hour
    std::array<std::vector<double>, kMaxLast> of_hour_;
    std::vector<double> least_; ///< of all hours of the week
};

} // namespace fathom
