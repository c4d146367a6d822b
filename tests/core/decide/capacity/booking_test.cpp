#include "core/decide/capacity/booking.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNoon = parse_rfc3339("2026-12-01T12:00:00Z").value();

Booking booking(std::int64_t from_h, std::int64_t to_h, std::int64_t units)
{
    return {kNoon + std::chrono::hours(from_h), kNoon + std::chrono::hours(to_h), units};
}

TEST(CheckBooking, AllUnitsOfAnEmptyCalendarAreFree)
{
    const BookingCheck check = check_booking(4, {}, booking(0, 2, 3));

    EXPECT_EQ(check.free_units, 4);
    EXPECT_EQ(check.next_start, kNoon);
}

TEST(CheckBooking, NamesWhatIsFreeAndTheNextTimeWithEnough)
{
    // 4 units: 3 are gone from 1 to 2, 2 from 2 to 4. Three for two hours: not before 4.
    const std::vector booked{booking(1, 2, 3), booking(2, 4, 2)};

    const BookingCheck check = check_booking(4, booked, booking(0, 2, 3));

    EXPECT_EQ(check.free_units, 1);
    EXPECT_EQ(check.next_start, kNoon + 4h);
}

TEST(CheckBooking, TimesThatOnlyTouchDoNotMeet)
{
    const std::vector booked{booking(0, 1, 4), booking(3, 5, 4)};

    EXPECT_EQ(check_booking(4, booked, booking(1, 3, 4)).free_units, 4);
}

TEST(CheckBooking, SaysThatThereNeverAreSoMany)
{
    const BookingCheck check = check_booking(4, {}, booking(0, 1, 5));

    EXPECT_EQ(check.free_units, 4);
    EXPECT_FALSE(check.next_start);
}

TEST(CheckBooking, ACenterThatShrankBelowItsReservationsHasNothingFree)
{
    const std::vector booked{booking(0, 3, 4)};

    const BookingCheck check = check_booking(2, booked, booking(1, 2, 1));

    EXPECT_EQ(check.free_units, 0);
    EXPECT_EQ(check.next_start, kNoon + 3h);
}

/// Units taken at each full hour, counted plainly.
std::int64_t taken_at(const std::vector<Booking>& booked, Timestamp at)
{
    std::int64_t units = 0;
    for (const Booking& one : booked)
        units += one.from <= at && at < one.to ? one.unit_count : 0;
    return units;
}

RC_GTEST_PROP(CheckBookingProperty, AgreesWithCountingHourByHour, ())
{
    constexpr std::int64_t kUnits = 6;
    std::vector<Booking> booked;
    const auto count = *rc::gen::inRange(0, 8);
    for (int i = 0; i < count; ++i) {
        const auto from = *rc::gen::inRange<std::int64_t>(-5, 20);
        booked.push_back(booking(from, from + *rc::gen::inRange<std::int64_t>(1, 8), *rc::gen::inRange(1, 4)));
    }
    const auto begin = *rc::gen::inRange<std::int64_t>(0, 15);
    const auto hours = *rc::gen::inRange<std::int64_t>(1, 6);
    const auto units = *rc::gen::inRange<std::int64_t>(1, kUnits + 1);
    const auto free_from = [&](std::int64_t start) {
        std::int64_t free = kUnits;
        for (std::int64_t hour = start; hour < start + hours; ++hour)
            free = std::min(free, kUnits - taken_at(booked, kNoon + std::chrono::hours(hour)));
        return std::max<std::int64_t>(free, 0);
    };

    const BookingCheck check = check_booking(kUnits, booked, booking(begin, begin + hours, units));

    RC_ASSERT(check.free_units == free_from(begin));
    std::int64_t next = begin;
    while (free_from(next) < units)
        ++next;
    RC_ASSERT(check.next_start == kNoon + std::chrono::hours(next));
}

} // namespace
} // namespace fathom
