// What no start of a run can beat.
#include "core/decide/capacity/least_objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

namespace fathom {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
const Timestamp kTenPastNine = parse_rfc3339("2026-11-18T09:10:00Z").value();

UnitPrice by_day_and_night(std::int64_t day_micros, std::int64_t night_micros)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = day_micros;
    entry.bands = {{{}, 0, 6, night_micros}};
    return UnitPrice(entry);
}

/// One that ends as soon as it can, and each second of delay is one more until it ends.
DelayableRun run_of(double run_s)
{
    return {.earliest = kTenPastNine, .run_s = run_s, .completion_s = run_s, .growth = 1};
}

TEST(LeastObjective, OfAShortRunIsThatOfThePriceOfNowHoweverCheapTheNightIs)
{
    const UnitPrice price = by_day_and_night(1'000'000, 200'000);
    const Preference half{0.5, 0.5, 0};

    // An hour: at once √(3600 · 1) = 60, at midnight √(57 000 · 0.2) = 107; at the cheapest hour without a wait 26.8.
    EXPECT_NEAR(least_objective(half, price, run_of(3600), kNoLimit), 60, 1e-3);
    // With a price of 0.01 by night the wait is worth it: √(57 000 · 0.01) = 23.9.
    EXPECT_NEAR(least_objective(half, by_day_and_night(1'000'000, 10'000), run_of(3600), kNoLimit), 23.875, 1e-3);
    // Six hours: at once √(21 600 · 6) = 360, at midnight √(75 000 · 1.2) = 300.
    EXPECT_NEAR(least_objective(half, price, run_of(21'600), kNoLimit), 300, 1e-3);
}

TEST(LeastObjective, LooksAtStartsBetweenHoursAtWhichTheRunEndsWithAnHour)
{
    // Half an hour longer than the night: it is dear at one end of it, sooner at the first.
    const UnitPrice price = by_day_and_night(1'000'000, 0);
    const Preference half{0.5, 0.5, 0};

    // From 23:30 on: √((51 600 + 23 400) · 0.5) = 193.6; from 00:00 on it is √((53 400 + 23 400) · 0.5) = 195.96.
    EXPECT_NEAR(least_objective(half, price, run_of(23'400), kNoLimit), 193.649, 1e-3);
}

TEST(LeastObjective, WhatEndsNoLaterForSomeTimeMayStartAtThePriceOfThen)
{
    const UnitPrice price = by_day_and_night(1'000'000, 200'000);
    DelayableRun run = run_of(3600);
    run.free_of_charge_s = 53'400; // until midnight

    EXPECT_NEAR(least_objective({0.5, 0.5, 0}, price, run, kNoLimit), std::sqrt(3600 * 0.2), 1e-3);
    run.free_of_charge_s = 0;
    run.growth = 0;
    EXPECT_NEAR(least_objective({0.5, 0.5, 0}, price, run, kNoLimit), std::sqrt(3600 * 0.2), 1e-3) << "for ever";
}

TEST(LeastObjective, IsNoMoreThanTheLimit)
{
    const UnitPrice price = by_day_and_night(1'000'000, 200'000);
    for (const double limit : {1.0, 30.0, 59.0})
        EXPECT_EQ(least_objective({0.5, 0.5, 0}, price, run_of(3600), limit), limit);
    EXPECT_NEAR(least_objective({0.5, 0.5, 0}, price, run_of(3600), 61), 60, 1e-3);
}

class RandomPrices {
  public:
    explicit RandomPrices(std::uint64_t seed) : random_(seed) {}

    double real(double least, double most) { return std::uniform_real_distribution(least, most)(random_); }
    double scale(double least, double most) { return std::exp(real(std::log(least), std::log(most))); }
    int whole(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

    /// Some hours are free, some cost next to nothing.
    UnitPrice price()
    {
        PriceEntry entry;
        entry.per_unit_hour_micros = whole(0, 400'000);
        for (int hour = 0; hour < 24; ++hour) {
            if (whole(0, 2) > 0) continue;
            entry.bands.push_back({{}, hour, hour + 1, whole(0, 3) == 0 ? whole(0, 30) : whole(0, 400'000)});
        }
        return UnitPrice(entry);
    }

    Preference preference()
    {
        const double time = real(0, 1);
        const double cost = real(0, 1) * (1 - time);
        const std::array<Preference, 5> all{
            {{1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0}, {0.3, 0.7, 0}, {time, cost, 1 - time - cost}}};
        return all[static_cast<std::size_t>(whole(0, 4))];
    }

    DelayableRun run()
    {
        DelayableRun run;
        run.earliest = kTenPastNine + std::chrono::microseconds(whole(0, 2'000'000'000));
        run.run_s = scale(0.01, 200'000);
        run.unit_count = whole(1, 8);
        run.energy_j = whole(0, 2) * 1000.0;
        run.completion_s = run.run_s + (whole(0, 1) == 0 ? 0 : real(0, 5000));
        run.free_of_charge_s = whole(0, 2) == 0 ? real(0, 10'000) : 5;
        run.growth = whole(0, 3) == 0 ? real(0, 1) : 1;
        return run;
    }

  private:
    std::mt19937_64 random_;
};

TEST(LeastObjective, NoStartIsBetter)
{
    RandomPrices random(17);
    int sharper = 0;
    for (int world = 0; world < 2000; ++world) {
        const UnitPrice price = random.price();
        const Preference prefer = random.preference();
        const DelayableRun run = random.run();
        const auto objective_after = [&](double delay_s) {
            const Timestamp start = run.earliest + std::chrono::duration_cast<Timestamp::duration>(Seconds(delay_s));
            const double grown_s = run.growth * std::max(delay_s - run.free_of_charge_s, 0.0);
            return objective(prefer,
                             {run.completion_s + grown_s, price.cost(start, run.run_s, run.unit_count), run.energy_j});
        };

        const double bound = least_objective(prefer, price, run, kNoLimit);

        ASSERT_LE(bound, objective_after(0)) << world;
        for (int i = 0; i < 100; ++i) {
            const double delay_s = random.scale(0.001, 700'000);
            ASSERT_LE(bound, objective_after(delay_s)) << world << " " << delay_s;
        }
        const Timestamp first = std::chrono::ceil<std::chrono::hours>(run.earliest);
        for (int hour = 0; hour < 170; ++hour) {
            const double hour_s = Seconds(first - run.earliest).count() + hour * 3600.0;
            const double ending_s = hour_s - std::fmod(run.run_s, 3600);
            ASSERT_LE(bound, objective_after(hour_s)) << world << " " << hour;
            if (ending_s >= 0) ASSERT_LE(bound, objective_after(ending_s)) << world << " " << hour;
        }
        const double cheapest =
            objective(prefer, {run.completion_s, price.least_cost(run.run_s, run.unit_count), run.energy_j});
        ASSERT_GE(bound, cheapest * (1 - 2e-6)) << world;
        sharper += bound > cheapest * 1.01 ? 1 : 0;
    }
    EXPECT_GT(sharper, 300);
}

TEST(UnitPrice, AfterADelayItCostsWhatItCostsThen)
{
    RandomPrices random(19);
    for (int i = 0; i < 500; ++i) {
        const UnitPrice price = random.price();
        const auto delay = std::chrono::seconds(random.whole(0, 1'000'000));
        const double run_s = random.scale(1, 1e6);
        const double after = price.cost_after(kTenPastNine, Seconds(delay).count(), run_s, 3);
        EXPECT_NEAR(after, price.cost(kTenPastNine + delay, run_s, 3), 1e-9 * after + 1e-12);
        EXPECT_LE(after, price.most_per_hour() * run_s / 3600 * 3 * (1 + 1e-9));
        EXPECT_EQ(price.cost_after(kTenPastNine, 0, run_s, 3), price.cost(kTenPastNine, run_s, 3));
    }
}

} // namespace
} // namespace fathom
