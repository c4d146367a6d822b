#include "core/decide/history/asked_times.hpp"
#include "tests/core/decide/history/past_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

using test::kNow;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `count` runs that used this share of an hour, one each hour until now.
void add_asked(std::vector<AskedRun>& runs, std::string_view owner, int count, double share,
               std::string_view job_type = "solver", std::string_view project = "materials")
{
    for (int i = 0; i < count; ++i)
        runs.push_back({.owner = owner,
                        .project = project,
                        .job_type = job_type,
                        .asked_s = 3600,
                        .actual_s = 3600 * share,
                        .ended_at = kNow - std::chrono::hours(i)});
}

double middle_of(const std::vector<AskedRun>& runs, std::string_view job_type, RunOwner owner)
{
    const std::optional<AskedShare> share = AskedTimes(runs, kNow).find(job_type, owner);
    EXPECT_TRUE(share);
    return share ? share->middle : 0;
}

TEST(AskedTimes, SayNothingBeforeTheFirstRun)
{
    EXPECT_FALSE(AskedTimes().find("solver", {"ann", "materials"}));
    const std::vector<AskedRun> unusable{{.asked_s = 0, .actual_s = 10, .ended_at = kNow},
                                         {.asked_s = 10, .actual_s = 0, .ended_at = kNow}};
    EXPECT_FALSE(AskedTimes(unusable, kNow).find("solver", {}));
}

TEST(AskedTimes, EachUserHasHabits)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 30, 0.1);
    add_asked(runs, "bob", 30, 0.9);

    EXPECT_NEAR(middle_of(runs, "solver", {"ann", "materials"}), 0.1, 0.03);
    EXPECT_NEAR(middle_of(runs, "solver", {"bob", "materials"}), 0.9, 0.2);
}

TEST(AskedTimes, AUsersTypesMayDiffer)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 30, 0.05, "short");
    add_asked(runs, "ann", 30, 0.8, "long");

    EXPECT_LT(middle_of(runs, "short", {"ann", "materials"}), 0.15);
    EXPECT_GT(middle_of(runs, "long", {"ann", "materials"}), 0.5);
}

TEST(AskedTimes, OfWhoNeverRanAnythingItsProjectTells)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 30, 0.2);
    add_asked(runs, "bob", 200, 0.9, "solver", "weather");

    const std::optional<AskedShare> share = AskedTimes(runs, kNow).find("other", {"new", "materials"});

    ASSERT_TRUE(share);
    EXPECT_NEAR(share->middle, 0.2, 0.05);
    EXPECT_THAT(share->basis, HasSubstr(" % of the time asked for (30 runs of project materials)"));
    EXPECT_EQ(share->run_count, 30);
}

TEST(AskedTimes, TheFirstRunsOfAUserCountALittle)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "bob", 100, 0.5, "solver", "weather");
    add_asked(runs, "ann", 1, 0.05, "solver", "materials");

    const double after_one = middle_of(runs, "solver", {"ann", "materials"});

    EXPECT_LT(after_one, 0.4);
    EXPECT_GT(after_one, 0.05);
}

TEST(AskedTimes, NewerRunsCountMore)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 10, 0.8);
    for (int i = 0; i < 40; ++i)
        runs.push_back({.owner = "ann",
                        .project = "materials",
                        .job_type = "solver",
                        .asked_s = 3600,
                        .actual_s = 360,
                        .ended_at = kNow - std::chrono::hours(24 + i)});

    EXPECT_GT(middle_of(runs, "solver", {"ann", "materials"}), 0.4);
}

TEST(AskedTimes, TheIntervalIsThatOfTheRuns)
{
    // ln(actual / asked) goes evenly from −2 to 0, in an order that is none.
    std::vector<AskedRun> runs;
    for (int i = 0; i < 500; ++i) {
        add_asked(runs, "ann", 1, std::exp(-2.0 * ((i * 211) % 500) / 500));
        runs.back().ended_at = kNow - std::chrono::minutes(i);
    }

    const std::optional<AskedShare> share = AskedTimes(runs, kNow).find("solver", {});

    ASSERT_TRUE(share);
    EXPECT_NEAR(std::log(share->low), -1.8, 0.1);
    EXPECT_NEAR(std::log(share->middle), -1, 0.1);
    EXPECT_NEAR(std::log(share->high), -0.2, 0.1);
}

TEST(AskedTimes, WhatWasEndedAtItsLimitCountsAsAtLeastAllOfIt)
{
    // Of a unit type where jobs take half as long again as where people ask.
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 20, 1 / 1.5);
    const double as_it_ended = middle_of(runs, "solver", {"ann", "materials"});
    for (AskedRun& run : runs)
        run.is_cut_off = true;

    EXPECT_LT(as_it_ended, 0.7);
    EXPECT_GT(middle_of(runs, "solver", {"ann", "materials"}), 0.9);
}

TEST(AskedTimes, TheOrderOfRunsChangesNothing)
{
    std::vector<AskedRun> runs;
    for (int i = 0; i < 60; ++i)
        add_asked(runs, i % 2 == 0 ? "ann" : "bob", 2, 0.05 + 0.9 * ((i * 37) % 60) / 60);
    const double one = middle_of(runs, "solver", {"ann", "materials"});
    std::reverse(runs.begin(), runs.end());

    EXPECT_EQ(middle_of(runs, "solver", {"ann", "materials"}), one);
}

TEST(AskedTimes, TextsNameWhoseRunsTheyAre)
{
    std::vector<AskedRun> runs;
    add_asked(runs, "ann", 12, 0.5);
    const AskedTimes times(runs, kNow);

    EXPECT_EQ(times.find("solver", {"ann", "materials"})->basis,
              "50 % of the time asked for (12 runs of its type by its user)");
    EXPECT_EQ(times.find("other", {"ann", "materials"})->basis, "50 % of the time asked for (12 runs of its user)");
    EXPECT_EQ(times.find("solver", {"new", "materials"})->basis,
              "50 % of the time asked for (12 runs of its type in project materials)");
    EXPECT_EQ(times.find("other", {"new", "elsewhere"})->basis, "50 % of the time asked for (12 runs of all users)");
}

TEST(CombineAsked, WithoutAnythingElseTheShareIsThePrediction)
{
    const RunEstimate estimate = combine_asked({}, {0.5, 0.25, 0.75, "basis", 9}, 1000, {});

    EXPECT_NEAR(estimate.time.run_s, 500, 1e-9);
    EXPECT_NEAR(estimate.time.low_s, 250, 1e-9);
    EXPECT_NEAR(estimate.time.high_s, 750, 1e-9);
    EXPECT_EQ(estimate.basis, "basis");
    EXPECT_EQ(estimate.job_count, 9);
}

TEST(CombineAsked, AJobIsEndedAtItsLimit)
{
    const RunEstimate estimate = combine_asked({}, {0.8, 0.5, 1.5, "basis", 9}, 1000, {2, 0});

    EXPECT_EQ(estimate.time.run_s, 1000);
    EXPECT_EQ(estimate.time.high_s, 1000);
    EXPECT_NEAR(estimate.time.low_s, 625, 1e-9);
}

TEST(CombineAsked, EachCountsByItsVariance)
{
    const RunEstimate usual{{100, 25, 400}, "runs of 12 other types", 40};
    const AskedShare as_sure{0.5, 0.125, 2, "half of it", 9};
    const AskedShare surer{0.5, 0.45, 0.55, "half of it", 9};

    const RunEstimate both = combine_asked(usual, as_sure, 3600, {});
    const RunEstimate mostly_asked = combine_asked(usual, surer, 3600, {});

    EXPECT_NEAR(both.time.run_s, std::sqrt(100.0 * 1800), 1e-6);
    EXPECT_NEAR(both.time.run_s / both.time.low_s, 4, 1e-9) << "both are off by what this job is";
    EXPECT_EQ(both.basis, "half of it, and by 50 % from runs of 12 other types");
    EXPECT_EQ(both.job_count, 40);
    EXPECT_NEAR(mostly_asked.time.run_s, 1800, 60);
    EXPECT_EQ(mostly_asked.basis, "half of it");
}

TEST(CombineAsked, AUnitTypeWhereNothingRanMakesItLessSure)
{
    const AskedShare share{0.5, 0.4, 0.6, "half of it", 9};

    const RunEstimate known = combine_asked({}, share, 1000, {1, 0});
    const RunEstimate unknown = combine_asked({}, share, 1000, {1, 0.5});

    EXPECT_EQ(unknown.time.run_s, known.time.run_s);
    EXPECT_LT(unknown.time.low_s, known.time.low_s);
    EXPECT_GT(unknown.time.high_s, known.time.high_s);
}

/// Jobs of `count` types, each of which ran once, for a third of what was asked: minutes to hours.
std::vector<PastRun> runs_of_many_types(int count)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < count; ++i) {
        const double asked_s = 300.0 * (1 + (i * 17) % 40);
        PastRun run = test::make_run("type" + std::to_string(i), i % 2 == 0 ? "u1" : "u2", 0, asked_s * 0.3);
        run.owner = "ann";
        run.project = "materials";
        run.asked_s = asked_s;
        run.ended_at = kNow - std::chrono::minutes(i);
        runs.push_back(run);
    }
    return runs;
}

TEST(RunHistoryAsked, WhatWasNeverRunIsPredictedByTheTimeAskedFor)
{
    const RunHistory history(runs_of_many_types(40), kNow);
    const RunOwner ann{"ann", "materials"};

    const std::optional<RunEstimate> without = history.estimate("new", "u1", ann);
    const std::optional<RunEstimate> shorter = history.estimate("new", "u1", ann, history.asked_time("new", ann, 600));
    const std::optional<RunEstimate> longer = history.estimate("new", "u1", ann, history.asked_time("new", ann, 9000));

    ASSERT_TRUE(without && shorter && longer);
    EXPECT_NEAR(shorter->time.run_s, 180, 60);
    EXPECT_NEAR(longer->time.run_s, 2700, 600);
    EXPECT_LT(longer->time.high_s / longer->time.low_s, without->time.high_s / without->time.low_s);
    EXPECT_THAT(longer->basis, HasSubstr("% of the time asked for (40 runs of its user)"));
    EXPECT_THAT(without->basis, StartsWith("runs of 40 other types"));
}

TEST(RunHistoryAsked, WhereNobodySaysHowLongNothingIsDifferent)
{
    std::vector<PastRun> runs = runs_of_many_types(40);
    const RunHistory asked(runs, kNow);
    for (PastRun& run : runs)
        run.asked_s = 0;
    const RunHistory silent(runs, kNow);

    EXPECT_FALSE(silent.asked_time("new", {}, 600).share);
    EXPECT_FALSE(asked.asked_time("new", {}, 0).share);
    EXPECT_FALSE(RunHistory().asked_time("new", {}, 600).share);
    EXPECT_EQ(asked.estimate("new", "u1")->time.run_s, silent.estimate("new", "u1")->time.run_s);
}

TEST(RunHistoryAsked, WhatWasEndedAtItsLimitTeachesNothingElse)
{
    std::vector<PastRun> runs = runs_of_many_types(40);
    const RunHistory without(runs, kNow);
    for (int i = 0; i < 10; ++i) {
        PastRun run = test::make_run("type0", "u1", 10, 1e5);
        run.owner = "ann";
        run.project = "materials";
        run.predicted_s = 10;
        run.asked_s = 1e5;
        run.is_cut_off = true;
        runs.push_back(run);
    }
    const RunHistory with(runs, kNow);

    EXPECT_EQ(with.calibration().job_count, without.calibration().job_count);
    EXPECT_EQ(with.correction("type0", "u1").factor, without.correction("type0", "u1").factor);
    EXPECT_EQ(with.estimate("type0", "u1")->time.run_s, without.estimate("type0", "u1")->time.run_s);
    EXPECT_GT(with.asked_time("type0", {"ann", "materials"}, 600).share->middle,
              without.asked_time("type0", {"ann", "materials"}, 600).share->middle);
    EXPECT_EQ(with.runs().size(), runs.size()) << "it can be learned again";
}

} // namespace
} // namespace fathom
