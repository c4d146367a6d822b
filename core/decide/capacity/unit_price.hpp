#pragma once

#include "core/base/clock.hpp"
#include "core/model/price_book.hpp"

#include <array>
#include <cstdint>

namespace fathom {

/// What a unit of one type costs over the week, prepared so that decisions add nothing up.
class UnitPrice {
  public:
    /// Free, and of unknown power.
    UnitPrice() = default;
    /// @param score  points of one unit, which prices of score-hours are multiplied with; whole micros an hour result.
    explicit UnitPrice(const PriceEntry& entry, double score = 0);

    /// Money (units of the currency) for `unit_count` units from `start` on for `run_s` seconds: each hour of the week
    /// at its own price, parts of hours in proportion.
    double cost(Timestamp start, double run_s, std::int64_t unit_count) const;
    /// The same of a start so long after `from`, at least 0, which need not lie at a tick of the clock.
    double cost_after(Timestamp from, double delay_s, double run_s, std::int64_t unit_count) const;
    /// What so long a run costs at least at any time. Never above cost().
    double least_cost(double run_s, std::int64_t unit_count) const;
    /// The least that so long a run costs of all starts from `earliest` to `latest`.
    double least_cost_between(Timestamp earliest, Timestamp latest, double run_s, std::int64_t unit_count) const;
    /// What a second on one unit costs at least, on average, in a run of any length that starts in the hour of `at`.
    double least_mean_per_s(Timestamp at) const;
    bool is_flat() const { return is_flat_; }
    /// One unit, by hour of the week from Monday 00:00 UTC.
    const std::array<double, 168>& per_hour() const { return per_hour_; }
    double least_per_hour() const { return least_per_hour_; } ///< of these
    double most_per_hour() const { return most_per_hour_; }   ///< of these

    /// Joules; 0 when its power is not known.
    double energy_j(double run_s, std::int64_t unit_count) const
    {
        return unit_power_w_ * run_s * static_cast<double>(unit_count);
    }
    bool knows_power() const { return unit_power_w_ > 0; }
    double unit_power_w() const { return unit_power_w_; }

  private:
    /// Of one unit from a second of the week on.
    double cost_from(double second_of_week, double run_s) const;

    std::array<double, 168> per_hour_{};
    std::array<double, 169> before_{}; ///< one unit, from Monday 00:00 to the start of each hour
    double least_per_hour_{};
    double most_per_hour_{};
    /// Runs of these many hours, and what they cost at least on one unit.
    static constexpr std::array<std::size_t, 12> kLengths{1, 2, 3, 4, 6, 8, 12, 18, 24, 48, 96, 168};
    std::array<double, kLengths.size()> least_of_length_{};
    bool is_flat_ = true;
    double unit_power_w_{};
};

} // namespace fathom
