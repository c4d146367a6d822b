#include "core/decide/queue/shadow_price.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

UnitTypeLoad type(std::int64_t units)
{
    return {units, units, 1, 1, {}};
}

// Ten jobs of 100 s in 1000 s on two equal units: half of their time.
TEST(UnitShadowPrice, EqualTypesAreWorthTheSame)
{
    const std::vector<JobOptions> jobs(10, {{0, 1, 100, 1}, {1, 1, 100, 1}});
    const std::vector shadow_prices = find_shadow_prices(jobs, 1000, std::vector{type(1), type(1)});

    EXPECT_NEAR(shadow_prices[0].load, 0.5, 1e-3);
    EXPECT_NEAR(shadow_prices[0].shadow_price, 1, 0.02);
    EXPECT_NEAR(shadow_prices[1].shadow_price, 1, 0.02);
}

// Twice as fast for everybody: two jobs go there for one that goes to the slow unit, shadow prices 2 : 1 (mean 1: 4/3
// and 2/3). 30 jobs in 3000 s: 20 · 50 / 3000 = 10 · 100 / 3000 = 1/3.
TEST(UnitShadowPrice, WhatIsTwiceAsFastIsWorthTwice)
{
    const std::vector<JobOptions> jobs(30, {{0, 1, 100, 1}, {1, 1, 50, 1}});
    const std::vector shadow_prices = find_shadow_prices(jobs, 3000, std::vector{type(1), type(1)});

    EXPECT_NEAR(shadow_prices[1].shadow_price / shadow_prices[0].shadow_price, 2, 0.05);
    EXPECT_NEAR(shadow_prices[0].load, 1.0 / 3, 0.01);
}

// Each kind of job has a type that it is ten times faster on: all go there, and the load is what that takes.
TEST(UnitShadowPrice, LoadIsThatOfTheBestAssignment)
{
    std::vector<JobOptions> jobs(10, {{0, 1, 10, 1}, {1, 1, 100, 1}});
    jobs.insert(jobs.end(), 10, {{0, 1, 100, 1}, {1, 1, 10, 1}});
    const std::vector shadow_prices = find_shadow_prices(jobs, 200, std::vector{type(1), type(1)});

    EXPECT_NEAR(shadow_prices[0].load, 0.5, 1e-3);
}

TEST(UnitShadowPrice, UnitTypesThatShareNoJobsHaveTheirOwnLoad)
{
    std::vector<JobOptions> jobs(10, {{0, 1, 100, 1}});
    jobs.push_back({{1, 2, 100, 1}}); // two units
    const std::vector shadow_prices = find_shadow_prices(jobs, 2000, std::vector{type(1), type(4), type(7)});

    EXPECT_NEAR(shadow_prices[0].load, 0.5, 1e-9);
    EXPECT_NEAR(shadow_prices[1].load, 200.0 / 2000 / 4, 1e-9);
    EXPECT_DOUBLE_EQ(shadow_prices[1].shadow_price, 1);
    EXPECT_DOUBLE_EQ(shadow_prices[2].load, 0) << "nobody can use it";
}

TEST(UnitShadowPrice, WithoutJobsOrTimeNothingIsKnown)
{
    const std::vector types{type(1), type(1)};
    const std::vector<JobOptions> jobs(3, {{0, 1, 100, 1}, {1, 1, 50, 1}});

    EXPECT_DOUBLE_EQ(find_shadow_prices({}, 100, types)[0].load, 1);
    EXPECT_DOUBLE_EQ(find_shadow_prices(jobs, 0, types)[0].load, 1);
    EXPECT_GT(find_shadow_prices(jobs, 0, types)[1].shadow_price, find_shadow_prices(jobs, 0, types)[0].shadow_price);
}

// No shadow prices make the jobs' cheapest places cost more than the load that some assignment needs (weak duality).
RC_GTEST_PROP(UnitShadowPriceProperty, LoadIsNoMoreThanAnyAssignmentNeeds, ())
{
    std::vector<JobOptions> jobs;
    const auto count = *rc::gen::inRange<std::size_t>(1, 30);
    for (std::size_t i = 0; i < count; ++i)
        jobs.push_back({{0, 1, 1.0 * *rc::gen::inRange(1, 100), 1},
                        {1, 1, 1.0 * *rc::gen::inRange(1, 100), 1},
                        {2, 1, 1.0 * *rc::gen::inRange(1, 100), 1}});
    const std::vector types{type(1), type(2), type(3)};
    std::vector<double> demand(3, 0);
    for (const JobOptions& job : jobs) {
        const auto& place = job[*rc::gen::inRange<std::size_t>(0, 3)];
        demand[place.unit_type] += place.run_s / static_cast<double>(types[place.unit_type].unit_count) / 100;
    }
    RC_ASSERT(find_shadow_prices(jobs, 100, types)[0].load <= *std::max_element(demand.begin(), demand.end()) + 1e-9);
}

} // namespace
} // namespace fathom
