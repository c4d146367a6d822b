#include "core/schedule/cycle_plan.hpp"
#include "core/schedule/cycle_replay.hpp"
#include "tests/core/schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(CyclePlan, TheFirstDifferenceIsNamed)
{
    const test::RandomCycle cycle = test::CycleMaker(11).make();
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);
    const PlanRecord record = record_of(plan);
    ASSERT_FALSE(record.empty());
    const auto differences = [&](const PlanRecord& stored) {
        return plan_differences(stored, record, cycle.moment.input.jobs, cycle.catalog.unit_types);
    };
    EXPECT_THAT(differences(record), IsEmpty());

    PlanRecord other = record;
    other.front().completion_s = std::nextafter(other.front().completion_s, 1e9);
    ASSERT_EQ(differences(other).size(), 1U);
    EXPECT_THAT(differences(other).front(), HasSubstr("completion_s"));

    other = record;
    other.front().figures ^= 1U;
    ASSERT_EQ(differences(other).size(), 1U);
    EXPECT_THAT(differences(other).front(), HasSubstr("other places"));

    other = record;
    other.front().unit_type_id = "ut_elsewhere";
    EXPECT_THAT(differences(other).front(), HasSubstr("ut_elsewhere was stored"));

    other.pop_back();
    EXPECT_THAT(differences(other).back(), HasSubstr("came out"));
}

} // namespace
} // namespace fathom
