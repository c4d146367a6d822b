#include "simulator/policies/shadow_price_tracker.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

constexpr double kDay_s = 86'400;

/// Two unit types of one unit each, which all jobs can use.
Scenario slow_and_fast()
{
    Scenario scenario;
    scenario.network.job_types = {{"any", Scaling::kFixed}};
    scenario.network.centers = {make_center("alpha")};
    scenario.network.unit_types = {make_unit_type("slow", 0, 1, {1}), make_unit_type("fast", 0, 1, {2})};
    scenario.knowledge = certainty();
    return scenario;
}

TEST(ShadowPriceTracker, BusySharesAreOfTheLastDay)
{
    const Scenario scenario = slow_and_fast();
    ShadowPriceTracker tracker(scenario);
    BusyShare by_hand;
    by_hand.note(0, kDay_s);

    EXPECT_EQ(tracker.load(0, kDay_s), by_hand.mean()) << "to the bit: the server does the same";
}

TEST(ShadowPriceTracker, WithAShorterMemoryBusySharesAreForgottenSooner)
{
    const Scenario scenario = slow_and_fast();
    ShadowPriceTracker tracker(scenario, {.busy_s = kDay_s / 4});
    BusyShare after_four_days;
    after_four_days.note(0, 4 * kDay_s);

    EXPECT_DOUBLE_EQ(tracker.load(0, kDay_s), after_four_days.mean());
}

TEST(ShadowPriceTracker, NoMoreArrivalsCountThanAreRemembered)
{
    const Scenario scenario = slow_and_fast();
    const auto prices_after = [&](const PriceMemory& memory) {
        ShadowPriceTracker tracker(scenario, memory);
        // First many for which the second unit type is twice as fast, then some that can only use the first.
        for (int i = 0; i < 60; ++i)
            tracker.note_arrival(make_job(i, 100), {{0, 1, 100}, {1, 1, 50}});
        for (int i = 0; i < 60; ++i)
            tracker.note_arrival(make_job(60 + i, 100), {{0, 1, 100}});
        return tracker.shadow_prices();
    };

    EXPECT_TRUE(prices_after({})[1]);
    EXPECT_FALSE(prices_after({.arrivals = 60})[1]) << "none of the last 60 could use it";
}

} // namespace
} // namespace fathom::simulation
