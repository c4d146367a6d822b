#include "tests/bench/least_completion.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

TEST(LeastCompletion, IsThatOfShortestRemainingTimeFirstOnOneUnit)
{
    // From 0 to 1 the first, from 1 to 3 the second, which has less left, then the first until 12.
    const LeastCompletion least = least_completion(single_type(1, {make_job(0, 10), make_job(1, 2)}), 1);

    EXPECT_DOUBLE_EQ(least.alone_s, (10 + 2) / 2.0);
    EXPECT_DOUBLE_EQ(least.pooled_s, (12 + 2) / 2.0);
}

TEST(LeastCompletion, WaitsWhereNothingIsThere)
{
    const LeastCompletion least = least_completion(single_type(1, {make_job(0, 1), make_job(100, 3)}), 1);

    EXPECT_DOUBLE_EQ(least.pooled_s, (1 + 3) / 2.0);
}

TEST(LeastCompletion, IsNeverLessThanOfJobsAlone)
{
    const LeastCompletion least = least_completion(single_type(2, {make_job(0, 10), make_job(1, 2)}), 1);

    EXPECT_DOUBLE_EQ(least.pooled_s, least.alone_s) << "two units as one would be twice as fast";
}

TEST(LeastCompletion, CountsTheUnitsThatJobsTake)
{
    Scenario scenario = single_type(2, {make_job(0, 10, 2), make_job(0, 4, 2)});

    const LeastCompletion least = least_completion(scenario, 1);

    EXPECT_DOUBLE_EQ(least.pooled_s, (4 + 14) / 2.0);
}

} // namespace
} // namespace fathom::simulation
