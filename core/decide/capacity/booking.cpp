#include "core/decide/capacity/booking.hpp"

#include "core/decide/capacity/availability.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>

namespace fathom {
namespace {

/// The largest count that is free from the start for so long: fits() can only turn false as counts grow.
std::int64_t most_free(const Availability& free, std::int64_t unit_count, double duration_s)
{
    const auto fits = [&](std::int64_t units) { return free.earliest_start(units, duration_s) <= 0; };
    std::int64_t least = 0;
    std::int64_t most = std::max<std::int64_t>(unit_count, 0);
    while (least < most) {
        const std::int64_t middle = least + (most - least + 1) / 2;
        if (fits(middle))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

} // namespace

BookingCheck check_booking(std::int64_t unit_count, std::span<const Booking> booked, const Booking& wanted)
{
    Availability free(unit_count);
    for (const Booking& one : booked) {
        if (one.to <= wanted.from) continue;
        free.take(Seconds(one.from - wanted.from).count(), Seconds(one.to - wanted.from).count(), one.unit_count);
    }
    const double duration_s = Seconds(wanted.to - wanted.from).count();
    BookingCheck check;
    check.free_units = most_free(free, unit_count, duration_s);
    const double start_s = free.earliest_start(wanted.unit_count, duration_s);
    if (std::isfinite(start_s)) check.next_start = wanted.from + std::chrono::microseconds(std::llround(start_s * 1e6));
    return check;
}

} // namespace fathom
