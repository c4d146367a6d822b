#pragma once

#include "core/base/clock.hpp"

#include <cstdint>
#include <optional>
#include <span>

/// Whether units can be reserved in advance.
namespace fathom {

/// Units of one type that are spoken for: by a reservation, or, all of them, by a maintenance.
struct Booking {
    Timestamp from{};
    Timestamp to{};
    std::int64_t unit_count{};
};

struct BookingCheck {
    std::int64_t free_units{}; ///< so many, and no more, can be had for the whole of the time
    /// When not before the time asked for so many are free for as long without a break; empty: there never are so many.
    std::optional<Timestamp> next_start;
};

/// What is left of a unit type for `wanted`, which is longer than nothing. It can be had when `free_units` are as many:
/// then at no moment more is booked than there is.
/// @param unit_count  of the unit type.
/// @param booked      of it, in any order; what lies outside the time does not matter.
BookingCheck check_booking(std::int64_t unit_count, std::span<const Booking> booked, const Booking& wanted);

} // namespace fathom
