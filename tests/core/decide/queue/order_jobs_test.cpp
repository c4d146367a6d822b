#include "core/decide/queue/order_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Starts = std::vector<std::string>; ///< "job@unit type"

/// A job with its run times on unit types 0, 1, …; 0 where it cannot run.
WaitingJobView job(std::string id, std::vector<double> run_s, std::int64_t unit_count = 1)
{
    WaitingJobView view;
    view.id = std::move(id);
    std::vector<JobOption> options;
    for (std::size_t type = 0; type < run_s.size(); ++type) {
        if (run_s[type] > 0) options.push_back({type, unit_count, run_s[type], 1});
    }
    view.options = std::move(options);
    return view;
}

WaitingJobView waited(WaitingJobView view, double waited_s)
{
    view.waited_s = waited_s;
    return view;
}

WaitingJobView in_gang(WaitingJobView view, std::string gang, std::int64_t size)
{
    view.gang = std::move(gang);
    view.gang_size = size;
    return view;
}

UnitTypeLoad type(std::int64_t units, std::int64_t free, double shadow_price = 1, double load = 1)
{
    return {units, free, shadow_price, load, {}};
}

Starts starts(const std::vector<WaitingJobView>& jobs, const std::vector<UnitTypeLoad>& types,
              OrderSettings settings = {})
{
    Starts result;
    for (const OrderedStart& start : order_starts(jobs, types, settings))
        result.push_back(jobs[start.job].id + "@" + std::to_string(jobs[start.job].options[start.option].unit_type));
    return result;
}

Starts order(const std::vector<WaitingJobView>& jobs, const std::vector<UnitTypeLoad>& types,
             OrderSettings settings = {})
{
    Starts result;
    for (const std::size_t i : order_waiting(jobs, types, settings))
        result.push_back(jobs[i].id);
    return result;
}

TEST(OrderJobs, FirstComeTakesTheFastestFreePlace)
{
    const std::vector jobs{waited(job("late", {10, 20}), 5), waited(job("early", {300, 200}), 60),
                           waited(job("middle", {100, 50}), 30)};

    EXPECT_THAT(starts(jobs, {type(1, 1), type(1, 1)}, {.rule = OrderRule::kFirstCome}),
                ElementsAre("early@1", "middle@0"));
}

// The place that suits it better is free in 100 s, and three quarters of such units are busy: 100 s + 100 / (1/4)^h
// against 250 s at once.
TEST(OrderJobs, HowMuchAWaitCountsUnderLoadIsASetting)
{
    UnitTypeLoad better = type(1, 0, 1, 0.75);
    better.releases = {{100, 1}};
    const std::vector jobs{job("a", {100, 250})};
    const std::vector types{better, type(1, 1, 1, 0.75)};

    EXPECT_THAT(starts(jobs, types, {.wait_stretch = 0}), IsEmpty());
    EXPECT_THAT(starts(jobs, types, {.wait_stretch = 0.25}), IsEmpty()) << "241 s";
    EXPECT_THAT(starts(jobs, types), ElementsAre("a@1")) << "300 s";
    EXPECT_THAT(starts(jobs, types, {.wait_stretch = 1}), ElementsAre("a@1"));
}

TEST(OrderJobs, ShortestFirstGoesByTheRunTimeOnTheFreeType)
{
    const std::vector jobs{job("a", {100, 10}), job("b", {40, 30}), job("c", {50, 60})};

    EXPECT_THAT(starts(jobs, {type(1, 1), type(1, 0)}, {.rule = OrderRule::kShortestFirst}), ElementsAre("b@0"));
    EXPECT_THAT(starts(jobs, {type(1, 1), type(1, 1)}, {.rule = OrderRule::kShortestFirst}), ElementsAre("a@1", "b@0"));
}

// Work in units of worth 1: "dense" has 0.25 · 400 = 100 on type 0 and 1 · 100 = 100 on type 1; "sparse" has 0.25 · 120
// = 30 and 1 · 100 = 100. Type 1 is 3.3 times dearer for "sparse", so that its index there is 30 · (100/30)^6 = 41 152.
TEST(OrderJobs, AdvantageSendsAJobWhereItLosesLeast)
{
    const std::vector jobs{job("dense", {400, 100}), job("sparse", {120, 100})};
    const std::vector types{type(1, 1, 0.25), type(1, 1, 1)};

    EXPECT_THAT(starts(jobs, types), ElementsAre("sparse@0", "dense@1"));
    EXPECT_THAT(starts(jobs, {type(1, 0, 0.25), type(1, 1, 1)}), ElementsAre("dense@1"))
        << "shortest first would toss a coin";
    EXPECT_THAT(starts(jobs, {type(1, 1, 0.25), type(1, 0, 1)}), ElementsAre("sparse@0"));
}

// Indices: a: 10 on type 0, 10·1.1^6 = 17.7 on type 1. b: 11 on type 0, 11·2^6 = 704 on type 1. Greedy starts a@0 and
// b@1, 1/10 + 1/704 = 0.101; together b@0 and a@1 are worth 1/11 + 1/17.7 = 0.147.
TEST(OrderJobs, MinCostAssignmentWeighsAllAtOnce)
{
    const std::vector jobs{job("a", {10, 11}), job("b", {11, 22})};
    const std::vector types{type(1, 1), type(1, 1)};

    EXPECT_THAT(starts(jobs, types), ElementsAre("a@0", "b@1"));
    EXPECT_THAT(starts(jobs, types, {.rule = OrderRule::kMinCostAssignment}), ElementsAre("b@0", "a@1"));
}

TEST(OrderJobs, TwoUnitsWeighTwice)
{
    const std::vector jobs{job("wide", {60}, 2), job("narrow", {100})};

    EXPECT_THAT(starts(jobs, {type(2, 2)}), ElementsAre("narrow@0"));
    EXPECT_THAT(order(jobs, {type(2, 2)}), ElementsAre("narrow", "wide"));
}

TEST(OrderJobs, PriorityShareAndDeadlineMoveAJob)
{
    const std::vector types{type(1, 1)};
    std::vector jobs{job("a", {100}), job("b", {150})};
    EXPECT_THAT(order(jobs, types), ElementsAre("a", "b"));

    jobs[1].priority = 20; // halves 150
    EXPECT_THAT(order(jobs, types), ElementsAre("b", "a"));

    jobs[1].priority = 0;
    jobs[0].fair_load = 2; // its project has had twice its share
    EXPECT_THAT(order(jobs, types), ElementsAre("b", "a"));

    jobs[0].fair_load = 1;
    jobs[1].latest_start_s = 90; // 150 · 90/150
    EXPECT_THAT(order(jobs, types), ElementsAre("b", "a"));
    jobs[1].latest_start_s = -1; // too late: no reason to hurry
    EXPECT_THAT(order(jobs, types), ElementsAre("a", "b"));
}

TEST(OrderJobs, BeyondItsStarvationLimitAJobGoesFirst)
{
    // StarvationLimit: max(3600, 20 · 1000) = 20 000 s for "long", 3600 s for the others.
    std::vector jobs{waited(job("long", {1000}), 20'100), waited(job("short", {10}), 3590),
                     waited(job("overdue", {10}), 3800)};
    const std::vector types{type(3, 3)};

    EXPECT_THAT(starts(jobs, types), ElementsAre("overdue@0", "long@0", "short@0"));
    jobs[0].waited_s = 19'900;
    EXPECT_THAT(order(jobs, types), ElementsAre("overdue", "short", "long"));
}

TEST(OrderJobs, UnitsAreKeptWhereItIsKnownWhenTheyAreFree)
{
    // "wide" needs two units: type 0 does not say when its other unit is free, type 1 does in 100 s.
    WaitingJobView wide = waited(job("wide", {50, 50}, 2), 5000);
    std::vector<UnitTypeLoad> types{type(2, 1), type(2, 1)};
    types[1].releases = {{100, 1}};

    EXPECT_THAT(starts({wide, job("there", {0, 500})}, types), IsEmpty()) << "kept on type 1";
    EXPECT_THAT(starts({wide, job("here", {500, 0})}, types), ElementsAre("here@0"));
}

TEST(OrderJobs, UnitsAreKeptForAWideJobBeyondItsStarvationLimit)
{
    const std::vector jobs{waited(job("wide", {100}, 4), 1e5), job("fills", {50}), job("too_long", {51})};
    std::vector types{type(4, 2)};
    types[0].releases = {{50, 1}, {20, 1}};

    EXPECT_THAT(starts(jobs, types), ElementsAre("fills@0")) << "wide starts in 50 s; 51 s would delay it";
    types[0].releases.clear();
    EXPECT_THAT(starts(jobs, types), IsEmpty()) << "nobody knows when it starts";
    types[0] = type(5, 3);
    types[0].releases = {{50, 2}};
    EXPECT_THAT(starts(jobs, types), ElementsAre("fills@0", "too_long@0")) << "wide leaves one unit free";
}

TEST(OrderJobs, GangsStartWholeOrNotAtAll)
{
    const std::vector gang{in_gang(job("g1", {10, 10}), "p/g", 3), in_gang(job("g2", {10, 10}), "p/g", 3),
                           in_gang(job("g3", {10, 10}), "p/g", 3), job("alone", {1000, 1000})};

    EXPECT_THAT(starts(gang, {type(2, 1), type(2, 1)}), ElementsAre("alone@0"));
    EXPECT_THAT(starts(gang, {type(2, 2), type(2, 1)}), ElementsAre("g1@0", "g2@0", "g3@1"));
    EXPECT_THAT(starts({gang[0], gang[1], gang[3]}, {type(2, 2), type(2, 2)}), ElementsAre("alone@0"))
        << "a member is missing";
}

// On type 0 the job runs 100 s, on type 1 it would run 20 s and has to wait 30 s. At load 0.75 the wait counts 30 /
// √0.25 = 60: together 80 < 100. At load 0.91 it counts 100, at load 1 nothing waits.
TEST(OrderJobs, AJobWaitsForABetterPlaceWhileThereIsRoom)
{
    const std::vector jobs{job("j", {100, 20})};
    const auto at_load = [&](double load) {
        std::vector types{type(1, 1, 1, load), type(1, 0, 1, load)};
        types[1].releases = {{30, 1}};
        return starts(jobs, types);
    };

    EXPECT_THAT(at_load(0.75), IsEmpty());
    EXPECT_THAT(at_load(0.91), ElementsAre("j@0"));
    EXPECT_THAT(at_load(1), ElementsAre("j@0"));
}

// One unit of type 0 for 100 s, or four of type 1 for 40 s. At load 0.5 the four cost (0.5 + 0.5 · 4) · 40 = 100 and a
// bit more with 41 s: as much again as it gains the job, others would lose.
TEST(OrderJobs, MoreUnitsCostOthersMore)
{
    WaitingJobView wide = job("j", {});
    wide.options = {{0, 1, 100, 1}, {1, 4, 39, 1}};
    const std::vector types{type(4, 4, 1, 0.5), type(4, 4, 1, 0.5)};

    EXPECT_THAT(starts({wide}, types), ElementsAre("j@1"));
    wide.options = {{0, 1, 100, 1}, {1, 4, 41, 1}};
    EXPECT_THAT(starts({wide}, types), ElementsAre("j@0"));
}

TEST(OrderJobs, WhoIsAheadInLineIsWaitedForToo)
{
    // The first release is for "small"; "j" would get the second, after 90 s.
    const std::vector jobs{job("small", {0, 5}), job("j", {100, 20})};
    std::vector types{type(1, 1, 1, 0.1), type(2, 0, 1, 0.1)};
    types[1].releases = {{30, 1}, {90, 1}};

    EXPECT_THAT(starts(jobs, types), ElementsAre("j@0"));
    types[1].releases = {{30, 2}};
    EXPECT_THAT(starts(jobs, types), IsEmpty());
}

// At load 0.1 type 0 costs "j" 0.95 · 100 and type 1 only 90, so that it leaves type 0 although its index is least
// there; then "k" takes type 1, and "j" has another turn.
TEST(OrderJobs, AJobWhoseBetterPlaceIsTakenHasAnotherTurn)
{
    const std::vector jobs{job("j", {100, 90}), job("k", {0, 200})};

    EXPECT_THAT(starts(jobs, {type(1, 1, 0.5, 0.1), type(1, 1, 1, 0.1)}), ElementsAre("k@1", "j@0"));
}

TEST(OrderJobs, OfEqualsTheSmallerIdIsFirst)
{
    for (const OrderRule rule : {OrderRule::kFirstCome, OrderRule::kShortestFirst, OrderRule::kAdvantage}) {
        EXPECT_THAT(starts({job("b", {100}), job("c", {100}), job("a", {100})}, {type(2, 2)}, {.rule = rule}),
                    ElementsAre("a@0", "b@0"));
    }
    std::vector types{type(1, 1, 1, 0.1), type(1, 0, 1, 0.1)};
    types[1].releases = {{30, 1}};
    EXPECT_THAT(starts({job("b", {100, 20}), job("a", {100, 20})}, types), ElementsAre("b@0"))
        << "the release is for a; both cannot wait for it";
}

TEST(OrderJobs, BeyondItsStarvationLimitAJobTakesWhatIsFree)
{
    const std::vector jobs{waited(job("j", {100, 20}), 1e5)};
    std::vector types{type(1, 1, 1, 0.1), type(1, 0, 1, 0.1)};
    types[1].releases = {{30, 1}};

    EXPECT_THAT(starts(jobs, types), ElementsAre("j@0"));
}

TEST(OrderJobs, WhatCannotRunIsLeftOut)
{
    const std::vector jobs{job("no_place", {}), job("too_wide", {10}, 5), job("fits", {10})};

    EXPECT_THAT(starts(jobs, {type(4, 4)}), ElementsAre("fits@0"));
    EXPECT_THAT(starts(jobs, {type(4, 0)}), IsEmpty());
    EXPECT_THAT(starts({}, {type(4, 4)}), IsEmpty());
}

TEST(OrderJobs, RulesHaveNames)
{
    for (const OrderRule rule :
         {OrderRule::kFirstCome, OrderRule::kShortestFirst, OrderRule::kAdvantage, OrderRule::kMinCostAssignment})
        EXPECT_EQ(parse_order_rule(to_string(rule)), rule);
    EXPECT_FALSE(parse_order_rule("random"));
}

} // namespace
} // namespace fathom
