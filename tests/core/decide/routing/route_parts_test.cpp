// What decisions are made of: free units over time, objectives, prices, the trace's words.
#include "core/decide/capacity/availability.hpp"
#include "core/decide/capacity/objective.hpp"
#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/routing/filter_trace.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kMonday = parse_rfc3339("2026-11-16T00:00:00Z").value();

TEST(Availability, FindsTheFirstGapThatIsLongEnough)
{
    Availability units(4);
    units.take(-5, 10, 3); // one is free until 10
    units.take(20, 30, 2); // planned

    EXPECT_EQ(units.free_now(), 1);
    EXPECT_EQ(units.earliest_start(1, 100), 0);
    EXPECT_EQ(units.earliest_start(3, 10), 10) << "it ends where the next one begins";
    EXPECT_EQ(units.earliest_start(3, 11), 30);
    EXPECT_EQ(units.earliest_start(3, 5, 12), 12);
    EXPECT_EQ(units.earliest_start(5, 1), Availability::kForEver);
}

TEST(Availability, MoreMayBeTakenThanThereAre)
{
    Availability units(2);
    units.take(0, 10, 3);
    units.take(0, Availability::kForEver, 1);

    EXPECT_EQ(units.free_now(), -2);
    EXPECT_EQ(units.earliest_start(1, 5), 10);
    EXPECT_EQ(units.earliest_start(2, 5), Availability::kForEver);
}

struct Taken {
    int from_s;
    int to_s;
    int units;
};

/// Against counting at every second.
RC_GTEST_PROP(AvailabilityProperty, IsACountAtEveryMoment, ())
{
    constexpr int kEnd_s = 40;
    const int total = *rc::gen::inRange(1, 6);
    Availability units(total);
    std::array<int, 2 * kEnd_s> free{};
    free.fill(total);
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
        const Taken taken{*rc::gen::inRange(0, kEnd_s), *rc::gen::inRange(0, kEnd_s), *rc::gen::inRange(1, 3)};
        units.take(taken.from_s, taken.to_s, taken.units);
        for (int s = taken.from_s; s < taken.to_s; ++s)
            free[static_cast<std::size_t>(s)] -= taken.units;
    }
    const int wanted = *rc::gen::inRange(1, total + 1);
    const int length_s = *rc::gen::inRange(1, 20);
    const int not_before_s = *rc::gen::inRange(0, 20);
    int expected = not_before_s;
    const auto fits = [&](int start_s) {
        return std::all_of(free.begin() + start_s, free.begin() + start_s + length_s,
                           [&](int count) { return count >= wanted; });
    };
    while (!fits(expected))
        ++expected;

    RC_ASSERT(units.earliest_start(wanted, length_s, not_before_s) == expected);
    for (int s = 0; s < kEnd_s; ++s)
        RC_ASSERT(units.free_at(s) == free[static_cast<std::size_t>(s)]);
}

TEST(Objective, PurePreferencesGiveTheAmountItself)
{
    const Outcome outcome{120, 3, 5000};

    EXPECT_EQ(objective({1, 0, 0}, outcome), 120);
    EXPECT_EQ(objective({0, 1, 0}, outcome), 3);
    EXPECT_EQ(objective({0, 0, 1}, outcome), 5000);
}

TEST(Objective, HalfTheCostIsWorthAsMuchAsHalfTheTime)
{
    const Preference both{0.5, 0.5, 0};

    EXPECT_NEAR(objective(both, {100, 4, 0}), 20, 1e-12); // √(100 · 4)
    EXPECT_NEAR(objective(both, {50, 8, 0}), 20, 1e-12);
}

TEST(Objective, WhatIsFreeDoesNotBeatEverything)
{
    EXPECT_GT(objective({0.5, 0.5, 0}, {1e6, 0, 0}), objective({0.5, 0.5, 0}, {10, 0.001, 0}));
}

RC_GTEST_PROP(ObjectiveProperty, NeverFallsWhenAnythingRises, ())
{
    const double time = *rc::gen::inRange(0, 11) / 10.0;
    const double cost = (1 - time) * *rc::gen::inRange(0, 11) / 10.0;
    const Preference preference{time, cost, 1 - time - cost};
    const auto amount = [] { return *rc::gen::inRange(0, 1000000) / 1e3; };
    const Outcome less{amount(), amount(), amount()};
    const Outcome more{less.completion_s + amount(), less.cost + amount(), less.energy_j + amount()};

    RC_ASSERT(objective(preference, more) >= objective(preference, less));
}

/// 0.10 an hour by day, 0.04 from 0 to 6 o'clock.
PriceEntry night_and_day()
{
    PriceEntry entry;
    entry.per_unit_hour_micros = 100'000;
    entry.bands = {{{}, 0, 6, 40'000}};
    entry.unit_power_w = 250;
    return entry;
}

TEST(UnitPrice, EachHourCostsItsOwn)
{
    const UnitPrice price(night_and_day());

    EXPECT_NEAR(price.cost(kMonday + 5h, 2 * 3600, 3), 3 * (0.04 + 0.10), 1e-12);
    EXPECT_NEAR(price.cost(kMonday + 5h + 30min, 3600, 1), 0.02 + 0.05, 1e-12);
    EXPECT_NEAR(price.cost(kMonday, 8 * 24 * 3600, 1), 8 * (6 * 0.04 + 18 * 0.10), 1e-9) << "more than a week";
    EXPECT_NEAR(price.cost(kMonday + 6 * 24h + 23h, 2 * 3600, 1), 0.10 + 0.04, 1e-12) << "over the week's end";
    EXPECT_NEAR(price.least_cost(2 * 3600, 3), 0.24, 1e-9);
    EXPECT_FALSE(price.is_flat());
    EXPECT_NEAR(price.energy_j(10, 2), 5000, 1e-9);
}

TEST(UnitPrice, WithoutAnEntryItIsFree)
{
    EXPECT_EQ(UnitPrice().cost(kMonday, 1e6, 100), 0);
    EXPECT_TRUE(UnitPrice().is_flat());
    EXPECT_FALSE(UnitPrice().knows_power());
}

TEST(UnitPrice, RunsBeyondAllMeasureCostAFiniteAmount)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = 1'000'000;
    entry.bands = {{{}, 0, 6, 0}};
    const UnitPrice price(entry);

    for (const double run_s : {1e12, 1e18, 1e300, HUGE_VAL}) {
        EXPECT_NEAR(price.cost(kMonday + 90min, run_s, 1), 0.75 * 1e12 / 3600, 100) << run_s;
        EXPECT_LE(price.least_cost(run_s, 1), price.cost(kMonday, run_s, 1)) << run_s;
        EXPECT_LE(price.least_cost_between(kMonday, kMonday + 5h, run_s, 1), price.cost(kMonday, run_s, 1)) << run_s;
    }
}

RC_GTEST_PROP(UnitPriceProperty, NoStartCostsLessThanTheLeast, ())
{
    PriceEntry entry;
    for (int hour = 0; hour < 24; ++hour)
        entry.bands.push_back({{*rc::gen::inRange(0, 7)}, hour, hour + 1, *rc::gen::inRange(0, 100) * 1000});
    const UnitPrice price(entry);
    const Timestamp earliest = kMonday + *rc::gen::inRange(0, 168 * 60) * 1min;
    const auto length = *rc::gen::inRange(0, 100 * 60) * 1min;
    const double run_s = *rc::gen::inRange(1, 300000);
    const Timestamp start = earliest + length * *rc::gen::inRange(0, 101) / 100;

    const double least = price.least_cost_between(earliest, earliest + length, run_s, 2);

    RC_ASSERT(price.least_cost(run_s, 2) <= least * (1 + 1e-6) + 1e-12);
    RC_ASSERT(least <= price.cost(start, run_s, 2) * (1 + 1e-9) + 1e-12);
}

TEST(FilterTrace, SaysWhereTheCandidatesWent)
{
    FilterTrace trace;
    trace.candidates = 40;
    trace.left = 8;
    trace.steps = {{Filter::kOperators, 12, {{"alpha", 12, "cannot run dgemm"}}}, {Filter::kDrain, 20, {}}};

    EXPECT_EQ(describe(trace), "40 unit types: 12 lack an operator of the job, 20 are drained; 8 left");
    const Json json = to_json(trace);
    EXPECT_EQ(json["steps"][0]["filter"], "operators");
    EXPECT_EQ(json["steps"][0]["centers"][0]["reason"], "cannot run dgemm");
    EXPECT_EQ(json["left"], 8);
}

} // namespace
} // namespace fathom
