// What a place costs a job that is not alone there: neighbours on the host, sharers of a GPU, and what it costs these.
#include "core/decide/capacity/objective.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_json.hpp"
#include "tests/core/decide/routing/place_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using test::job_of;
using test::kHour_s;
using test::kNow;
using test::measured;
using test::unit_type;
using test::winner_of;
using namespace std::chrono_literals;

/// Twice as long beside seven held cores.
std::shared_ptr<const UnitLoads> twice_beside_seven()
{
    OperatorLoad load{.operator_id = "dgemm", .curve = {}};
    load.curve.copies = {{.copies = 8, .busy_cores = 7, .log_factor = std::log(2.0), .deviation = 0, .run_count = 1}};
    return std::make_shared<const UnitLoads>(UnitLoads{load});
}

TEST(PlaceNeighbours, TheHostWhereFewerWorkIsFasterWhereItIsKnownWhatTheyCost)
{
    UnitTypeView busy = unit_type("busy", 8);
    UnitTypeView quiet = unit_type("quiet", 8);
    busy.cores_per_unit = quiet.cores_per_unit = 1;
    quiet.measured = {measured("dgemm", 0.012)}; // slower alone
    busy.availability.take(0, 100 * kHour_s, 7);

    EXPECT_EQ(winner_of(route(job_of(1), std::vector{busy, quiet})).center, "busy") << "no curve is known";

    busy.loads = twice_beside_seven();
    const Decision decision = route(job_of(1), std::vector{busy, quiet});
    EXPECT_EQ(winner_of(decision).center, "quiet");
    const Candidate& other = decision.candidates.at(1);
    EXPECT_NEAR(other.raw.run_s, 2 * kHour_s, 1);
    EXPECT_NEAR(other.prediction.run_s, 2 * kHour_s, 1);
    EXPECT_NEAR(other.raw.low_s, kHour_s, 1) << "they may go";
    EXPECT_TRUE(other.neighbours.is_known);
    EXPECT_NEAR(other.neighbours.busy_cores, 7, 1e-9);
    EXPECT_NEAR(other.neighbours.factor, 2, 1e-9);
}

/// Half of its speed at one unit type, as long as those who are there.
RouteRequest job_beside(double hours, const UnitTypeView& view, double until_s)
{
    RouteRequest request = job_of(hours);
    request.gpu_shares = {{view.id.value, {.share = 0.5, .spread = 0.1, .until_s = until_s, .neighbours = 2}}};
    return request;
}

TEST(PlaceGpuShare, TheUnitTypeWhereNobodySlowsItIsFasterWhereItIsKnownWhatSharingCosts)
{
    const UnitTypeView shared = unit_type("shared");
    UnitTypeView alone = unit_type("alone");
    alone.measured = {measured("dgemm", 0.012)}; // slower

    EXPECT_EQ(winner_of(route(job_of(1), std::vector{shared, alone})).center, "shared") << "nothing was measured";

    const Decision decision = route(job_beside(1, shared, 1e9), std::vector{shared, alone});
    EXPECT_EQ(winner_of(decision).center, "alone");
    EXPECT_FALSE(winner_of(decision).gpu_share.is_known);
    const Candidate& other = decision.candidates.at(1);
    EXPECT_NEAR(other.raw.run_s, 2 * kHour_s, 1);
    EXPECT_NEAR(other.prediction.run_s, 2 * kHour_s, 1);
    EXPECT_NEAR(other.raw.low_s, kHour_s, 1) << "they may go";
    EXPECT_NEAR(other.raw.high_s, kHour_s / 0.4, 1) << "or more may come";
    EXPECT_TRUE(other.gpu_share.is_known);
    EXPECT_NEAR(other.gpu_share.factor, 2, 1e-9);
    EXPECT_EQ(other.gpu_share.penalty_s, 0);
    EXPECT_EQ(to_json(decision, "")["candidates"][1]["gpu_share"]["basis"], "measured");
}

TEST(PlaceGpuShare, CountsAsLongAsTheOthersAreExpectedToBeThere)
{
    const UnitTypeView shared = unit_type("shared");
    const auto run_s = [&](double until_s) {
        return winner_of(route(job_beside(1, shared, until_s), std::vector{shared})).prediction.run_s;
    };

    EXPECT_NEAR(run_s(kHour_s), 1.5 * kHour_s, 1) << "half an hour of its work is done in this one";
    EXPECT_NEAR(run_s(0), kHour_s, 1);
    UnitTypeView later = shared;
    later.availability.take(0, 2 * kHour_s, 1);
    const Decision decision = route(job_beside(1, later, kHour_s), std::vector{later});
    EXPECT_NEAR(winner_of(decision).prediction.run_s, kHour_s, 1) << "they are gone before it starts";
    EXPECT_FALSE(winner_of(decision).gpu_share.is_known);
}

/// As long as this, five times, for jobs that do what their type does; of which others were taken to make so much.
RouteKnowledge runs_of(const UnitTypeView& view, double hours, double slowdown)
{
    std::vector<PastRun> runs;
    for (int i = 1; i <= 5; ++i) {
        PastRun run;
        run.job_type = "t";
        run.unit_type = view.id.value;
        run.raw_s = run.raw_low_s = run.raw_high_s = run.actual_s = hours * kHour_s;
        run.slowdown = slowdown;
        run.ended_at = kNow - std::chrono::hours(i);
        runs.push_back(run);
    }
    return {.runs = std::make_shared<RunHistory>(runs, kNow), .waits = {}, .estimates = {}};
}

TEST(PlaceGpuShare, WhatOthersWereTakenToMakeOfItsOwnRunsIsTakenOutOfThem)
{
    const UnitTypeView shared = unit_type("shared");
    RouteRequest request = job_beside(1, shared, 1e9);
    request.job_type = "t";
    request.takes_operators = true;
    const auto predicted_after = [&](double hours, double slowdown) {
        const Candidate winner = winner_of(route(request, std::vector{shared}, runs_of(shared, hours, slowdown)));
        EXPECT_EQ(winner.gpu_share.penalty_s, 0) << "it is all in the prediction";
        return winner.prediction.run_s / kHour_s;
    };

    EXPECT_NEAR(predicted_after(1, 1), 2, 0.05) << "they were alone";
    EXPECT_NEAR(predicted_after(2, 2), 2, 0.05) << "they had such neighbours, too";
    EXPECT_NEAR(predicted_after(3, 1.5), 4, 0.3) << "it takes two hours alone, whatever measurements let expect";
    request.takes_operators = false;
    EXPECT_NEAR(predicted_after(1, 1), 2, 0.05) << "runs were what was predicted of them";
}

TEST(PlaceGpuShare, IsSaidInTheDecisionsAssumptions)
{
    const UnitTypeView shared = unit_type("shared");

    const Decision decision = route(job_beside(1, shared, 1e9), std::vector{shared});

    EXPECT_THAT(
        winner_of(decision).assumptions,
        testing::Contains("beside those who have parts of the GPU that it would share it is expected to keep 50 "
                          "% of its speed, as measured together: it takes 2 times as long as alone, as long as "
                          "they are expected to be there"));
}

TEST(PlaceGpuShare, CostsNothingWhereTheJobSharesNone)
{
    const UnitTypeView view = unit_type("shared");
    RouteRequest request = job_beside(1, view, 1e9);
    request.units.sharing = UnitSharing::kExclusive;

    EXPECT_NEAR(winner_of(route(request, std::vector{view})).prediction.run_s, kHour_s, 1);
}

TEST(PlaceNeighbours, ThoseWhoEndMeanwhileCountForTheirTime)
{
    UnitTypeView view = unit_type("alpha", 8);
    view.cores_per_unit = 1;
    view.loads = twice_beside_seven();
    view.availability.take(0, kHour_s / 2, 7); // half of the run's time alone

    const Candidate winner = winner_of(route(job_of(1), std::vector{view}));

    EXPECT_NEAR(winner.neighbours.busy_cores, 3.5, 1e-9);
    EXPECT_NEAR(winner.raw.run_s, std::sqrt(2) * kHour_s, 1);
    EXPECT_NEAR(winner.raw.high_s, 2 * kHour_s, 1) << "others may come";
}

TEST(PlaceNeighbours, TheExplanationSaysHowManyAreExpected)
{
    UnitTypeView view = unit_type("alpha", 8);
    view.cores_per_unit = 1;
    view.loads = twice_beside_seven();
    view.availability.take(0, 100 * kHour_s, 7);

    const Decision decision = route(job_of(1), std::vector{view});

    EXPECT_THAT(decision.assumptions, testing::Contains(testing::HasSubstr(
                                          "other jobs are expected to hold 7 cores of its host meanwhile: it "
                                          "takes 2 times as long as alone there")));
    EXPECT_EQ(to_json(decision, "")["candidates"][0]["neighbours"]["busy_cores"], 7);
}

TEST(PlaceNeighbours, WhatTheyWereTakenToMakeOfItsOwnRunsIsTakenOutOfThem)
{
    UnitTypeView busy = unit_type("alpha", 8);
    busy.cores_per_unit = 1;
    busy.loads = twice_beside_seven();
    const UnitTypeView quiet = busy;
    busy.availability.take(0, 100 * kHour_s, 7);
    RouteRequest request = job_of(1);
    request.job_type = "t";
    request.takes_operators = true;
    const auto predicted = [&](const UnitTypeView& view, double hours, double slowdown) {
        return winner_of(route(request, std::vector{view}, runs_of(view, hours, slowdown))).prediction;
    };

    EXPECT_NEAR(predicted(busy, 1, 1).run_s, 2 * kHour_s, 0.05 * kHour_s) << "they were alone";
    EXPECT_NEAR(predicted(busy, 2, 2).run_s, 2 * kHour_s, 0.05 * kHour_s) << "not twice of that again";
    EXPECT_NEAR(predicted(quiet, 2, 2).run_s, kHour_s, 0.05 * kHour_s) << "nobody is there now";
    EXPECT_LE(predicted(busy, 2, 2).low_s, kHour_s) << "they may go: of that its runs tell nothing";
    EXPECT_GE(predicted(quiet, 2, 2).high_s, 2 * kHour_s) << "or others may come";
}

TEST(PlaceNeighbours, ADecisionIsMadeAgainFromItsInputs)
{
    UnitTypeView view = unit_type("alpha", 8);
    view.cores_per_unit = 1;
    view.loads = twice_beside_seven();
    view.availability.take(0, kHour_s / 2, 3);
    const RouteRequest request = job_of(1);
    const std::vector<UnitTypeView> views{view};
    const Decision decision = route(request, views);

    const RouteInputs read = parse_route_inputs(route_inputs_json(request, views, {}, decision)).value();
    const Decision again = route(read.request, read.unit_types, read.knowledge);

    EXPECT_EQ(winner_of(again).raw.run_s, winner_of(decision).raw.run_s);
    EXPECT_EQ(winner_of(again).raw.high_s, winner_of(decision).raw.high_s);
    EXPECT_GT(winner_of(again).neighbours.busy_cores, 0);
}

/// Twice as long beside seven bubbles, and as much pressure as one on each core.
std::shared_ptr<const UnitLoads> sensitive_and_streaming()
{
    OperatorLoad load{.operator_id = "dgemm", .curve = {}};
    load.curve.bubbles = {{.copies = 8, .busy_cores = 7, .log_factor = std::log(2.0), .deviation = 0, .run_count = 1}};
    load.curve.pressure = Pressure{1, 0.1, 1};
    return std::make_shared<const UnitLoads>(UnitLoads{load});
}

/// Eight units of one core, of which so many are held for long by jobs that use memory so.
UnitTypeView held_by(const std::string& name, std::int64_t units, const MemoryUse& use)
{
    UnitTypeView view = unit_type(name, 8);
    view.cores_per_unit = 1;
    view.loads = sensitive_and_streaming();
    view.availability.take(0, 100 * kHour_s, units);
    view.held_memory.add(use, static_cast<double>(units));
    return view;
}

TEST(PlaceMixes, NeighboursThatStayInTheirCachesCostLess)
{
    const UnitTypeView busy = held_by("busy", 7, {.pressure = 0, .sensitivity = 0});
    const UnitTypeView streaming = held_by("streaming", 7, {.pressure = 1, .sensitivity = 0});

    const Decision decision = route(job_of(1), std::vector{busy, streaming});

    EXPECT_EQ(winner_of(decision).center, "busy");
    EXPECT_NEAR(winner_of(decision).raw.run_s, kHour_s, 1);
    EXPECT_NEAR(winner_of(decision).raw.high_s, 2 * kHour_s, 1) << "others may come in their place";
    EXPECT_EQ(winner_of(decision).neighbours.pressure, 0);
    const Candidate& other = decision.candidates.at(1);
    EXPECT_NEAR(other.raw.run_s, 2 * kHour_s, 1);
    EXPECT_EQ(other.neighbours.pressure, 1);
}

TEST(PlaceMixes, NeighboursOfWhomNobodyKnowsMakeTheUsualPressure)
{
    UnitTypeView view = held_by("alpha", 7, {});
    view.held_memory = {};

    const Candidate winner = winner_of(route(job_of(1), std::vector{view}));

    EXPECT_NEAR(winner.raw.run_s, std::sqrt(2) * kHour_s, 1);
    EXPECT_EQ(winner.neighbours.slowed_unit_s, 0) << "what it would cost them is not known either";
}

TEST(PlaceMixes, WhatItCostsThoseWhoRunCountsAgainstThePlace)
{
    // Three units, each slowed by a tenth for an hour: 0.3 h, of its one unit, too. Elsewhere it is a quarter of an
    // hour slower, with nobody there.
    const UnitTypeView held = held_by("held", 3, {.pressure = 0, .sensitivity = 0.1});
    UnitTypeView quiet = held_by("quiet", 0, {});
    quiet.measured = {measured("dgemm", 0.0125)};

    const Decision decision = route(job_of(1), std::vector{held, quiet});

    EXPECT_EQ(winner_of(decision).center, "quiet");
    const Candidate& other = decision.candidates.at(1);
    EXPECT_NEAR(other.prediction.run_s, kHour_s, 1) << "the prediction is what it is";
    EXPECT_NEAR(other.neighbours.slowed_unit_s, 0.3 * kHour_s, 1);
    EXPECT_NEAR(other.neighbours.penalty_s, 0.3 * kHour_s, 1);
    EXPECT_NEAR(other.objective, 1.3 * kHour_s, 2);
    EXPECT_THAT(other.reason, testing::HasSubstr("later, for what it would cost jobs that run there"));

    UnitTypeView slower = quiet;
    slower.measured = {measured("dgemm", 0.014)}; // 24 minutes
    const Decision again = route(job_of(1), std::vector{held, slower});
    EXPECT_EQ(winner_of(again).center, "held");
    EXPECT_THAT(again.assumptions, testing::Contains(testing::HasSubstr("it is expected to keep these jobs")));
}

TEST(PlaceMixes, ADecisionIsMadeAgainFromItsInputs)
{
    const UnitTypeView view = held_by("alpha", 3, {.pressure = 0.7, .sensitivity = 0.1});
    const RouteRequest request = job_of(1);
    const std::vector<UnitTypeView> views{view};
    const Decision decision = route(request, views);

    const RouteInputs read = parse_route_inputs(route_inputs_json(request, views, {}, decision)).value();
    const Decision again = route(read.request, read.unit_types, read.knowledge);

    EXPECT_EQ(winner_of(again).raw.run_s, winner_of(decision).raw.run_s);
    EXPECT_EQ(winner_of(again).objective, winner_of(decision).objective);
    EXPECT_GT(winner_of(again).neighbours.slowed_unit_s, 0);
    EXPECT_EQ(winner_of(again).memory, (MemoryUse{1, std::log(2.0) / 7}));
    Json wrong = route_inputs_json(request, views, {}, decision);
    wrong["unit_types"][0]["loads"][0]["pressure"] = Json::array({{3, 0, 1}});
    EXPECT_FALSE(parse_route_inputs(wrong)) << "more than that nothing makes";
}

TEST(PlaceMixes, CoresOfOtherUnitTypesOnTheHostCount)
{
    // Three of its own units are held by jobs that make no pressure, four other cores by ones that are bubbles.
    UnitTypeView view = held_by("alpha", 3, {.pressure = 0, .sensitivity = 0});
    OtherCores other{.count = 8, .free = Availability(8), .memory = {}};
    other.free.take(0, 100 * kHour_s, 4);
    other.memory.add({.pressure = 1, .sensitivity = 0.1}, 4);
    view.other_cores = other;
    const RouteRequest request = job_of(1);
    const std::vector<UnitTypeView> views{view};

    const Decision decision = route(request, views);
    const Candidate& winner = winner_of(decision);

    EXPECT_NEAR(winner.neighbours.busy_cores, 7, 1e-9);
    EXPECT_NEAR(winner.neighbours.pressure, 4.0 / 7, 1e-9);
    EXPECT_NEAR(winner.raw.run_s, std::pow(2, 4.0 / 7) * kHour_s, 1);
    EXPECT_NEAR(winner.neighbours.slowed_unit_s, 4 * 0.1 * winner.raw.run_s, 1);

    const RouteInputs read = parse_route_inputs(route_inputs_json(request, views, {}, decision)).value();
    const Candidate again = winner_of(route(read.request, read.unit_types, read.knowledge));
    EXPECT_EQ(again.raw.run_s, winner.raw.run_s);
    EXPECT_EQ(again.objective, winner.objective);
}

/// A tenth of a run of 7 h 20 min cannot be shared: 2 units cost 8 by day, 8 units 12.

} // namespace
} // namespace fathom
