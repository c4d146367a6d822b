#pragma once

#include "core/base/result.hpp"

/// How busy a unit and the link that feeds it were in a period (spec 3, R1 and R2).
namespace fathom {

/// What a unit and its link can do at most.
struct UnitRates {
    double link_bytes_per_s{};
    double peak_operations_per_s{};
};

/// What was counted in one sampling period. The period is all of the time between two samples, idle time too.
struct PeriodCounts {
    double bytes{};
    double operations{};
    double period_s{};
    double age_s{}; ///< since the period ended
};

/// Both in [0, 1].
struct Occupancies {
    double transfer{}; ///< P_p = bytes / (link bandwidth × period)
    double load{};     ///< P_d = operations / (peak rate × period)

    bool operator==(const Occupancies&) const = default;
};

/// Counts are read a little before or after the clock: so much above 1 counts as 1.
inline constexpr double kOccupancySlack = 0.05;

/// R1.
/// @param most_age_s  of a sample that may still be acted on.
/// @error kInvalid   a figure is negative or no number, or an occupancy is above 1: the rates are not the unit's.
/// @error kDeadline  the sample is too old.
Result<Occupancies> measure_occupancies(const PeriodCounts& counts, const UnitRates& rates, double most_age_s);

/// Occupancies that a driver tells itself, checked alike.
/// @error kInvalid  one is no number, negative, or above 1.
Result<Occupancies> check_occupancies(double transfer, double load);

/// R2: e = P_p − P_d, in [−1, 1]. Above 0 the unit waits for its link (transfer-bound), below 0 the link for the unit
/// (compute-bound).
constexpr double balance_error(const Occupancies& occupancies)
{
    return occupancies.transfer - occupancies.load;
}

} // namespace fathom
