#include "core/decide/routing/decision_json.hpp"
#include "core/schedule/cycle_replay.hpp"
#include "tests/core/schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::parts_of;
using testing::HasSubstr;

TEST(CycleReplay, OfTheJobThatIsAskedAboutAllPlacesAreToldAndThePlanIsTheSame)
{
    test::RandomCycle cycle = test::CycleMaker(11).make(90);
    // More of them than units are planned for.
    std::vector<ReadyJob>& jobs = cycle.moment.input.jobs;
    std::erase_if(jobs, [](const ReadyJob& job) { return !job.gang.empty(); });
    for (std::size_t i = 0; jobs.size() < 3 * kMaxPlanned; ++i) {
        jobs.push_back(jobs[i]);
        jobs.back().id += "_again";
    }
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);
    std::size_t told_more = 0;
    for (const ScheduledWait& wait : plan.waits) {
        if (wait.job % 16 != 0) continue; // all would take long
        const SchedulePlan explained = decide_cycle(cycle.moment, cycle.catalog, wait.job);

        ASSERT_EQ(explained.starts.size(), plan.starts.size());
        ASSERT_EQ(explained.waits.size(), plan.waits.size());
        const auto same = std::find_if(explained.waits.begin(), explained.waits.end(),
                                       [&](const ScheduledWait& one) { return one.job == wait.job; });
        ASSERT_NE(same, explained.waits.end());
        EXPECT_EQ(same->priority_rank, wait.priority_rank);
        ASSERT_EQ(same->decision->winner, wait.decision->winner);
        if (!wait.decision->winner) continue;
        EXPECT_EQ(same->decision->candidates.front().unit_type_id, wait.decision->candidates.front().unit_type_id);
        EXPECT_EQ(same->decision->candidates.front().completion_s, wait.decision->candidates.front().completion_s);
        told_more += same->decision->candidates.size() > wait.decision->candidates.size() ? 1 : 0;
    }
    EXPECT_GT(told_more, 0U);
}

// Cycles share the loads of unit types: they are a part of the catalog, and no cycle goes without.
TEST(CycleReplay, WithoutTheLoadsOfItsUnitTypesACycleIsRefused)
{
    const test::RandomCycle cycle = test::CycleMaker(3).make();
    const std::string plan = write_plan(record_of(decide_cycle(cycle.moment, cycle.catalog)));
    std::vector<std::string> parts = parts_of(cycle.catalog);
    const Result<CycleReplay> whole = replay_cycle(write_cycle(cycle.moment), parts, plan);
    ASSERT_TRUE(whole.has_value()) << describe(whole.error());
    EXPECT_EQ(whole->moment.input.loads->busy_shares, cycle.moment.input.loads->busy_shares);
    EXPECT_EQ(whole->moment.input.loads->shadow_prices, cycle.moment.input.loads->shadow_prices);

    parts.pop_back();

    const Result<CycleReplay> replay = replay_cycle(write_cycle(cycle.moment), parts, plan);
    ASSERT_FALSE(replay.has_value());
    EXPECT_THAT(replay.error().detail, HasSubstr("a part of it is missing"));
}

TEST(CycleReplay, ExplainsAJobsPlace)
{
    const test::RandomCycle cycle = test::CycleMaker(4).make();
    const SchedulePlan plan = decide_cycle(cycle.moment, cycle.catalog);
    ASSERT_FALSE(plan.starts.empty());
    const CycleReplay replay{cycle.moment, cycle.catalog, plan, {}};
    const std::string& job = cycle.moment.input.jobs[plan.starts.back().job].id;

    const std::optional<Json> explained = explain_in_cycle(replay, job, "EUR");

    ASSERT_TRUE(explained.has_value());
    EXPECT_EQ((*explained)["position"], plan.starts.size());
    EXPECT_EQ((*explained)["decision"], to_json(plan.starts.back().decision, "EUR"));
    EXPECT_FALSE(explain_in_cycle(replay, "job_nobody", "EUR").has_value());
}

} // namespace
} // namespace fathom
