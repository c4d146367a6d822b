// How many units a job gets at one place, from when on, and what that is taken to cost and to be worth.
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
using test::price;
using test::unit_type;
using test::winner_of;
using namespace std::chrono_literals;

TEST(Place, AsMuchAsNothingForTimeIsNoReasonToLookAtHoursForEver)
{
    UnitTypeView dear = unit_type("dear");
    dear.price = price(2, 1);
    UnitTypeView cheap = unit_type("cheap");
    cheap.price = price(1, 0.2);
    RouteRequest request = job_of(1);
    request.transfer.deadline = kNow + 20h;

    for (const double time : {1e-300, 1e-12, 0.01}) {
        request.prefer = {time, 1 - time, 0};
        const Decision decision = route(request, std::vector{dear, cheap});

        EXPECT_EQ(winner_of(decision).center, "cheap");
        EXPECT_NEAR(winner_of(decision).cost, 0.2, 1e-6) << time;
    }
}

class PlaceCounts : public testing::Test {
  public:
    PlaceCounts()
    {
        std::vector<ScalingPoint> points;
        for (const double n : {1, 2, 4, 8})
            points.push_back({n, 1 / (1.0 / 11 + 10.0 / 11 / n)});
        view.speedups = std::make_shared<const UnitSpeedups>(UnitSpeedups{
            std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e9, fit_scaling(points, ScalingMode::kStrong).value())});
        request.units.min = 2;
        request.units.ignore_knee = true;
        request.transfer.deadline = kNow + 20h;
        request.budget = 8.5;
    }

    UnitTypeView view = unit_type("alpha", 8);
    RouteRequest request = job_of(7 + 1.0 / 3);
};

TEST_F(PlaceCounts, WhatNoHourMakesCheapEnoughGivesWayToFewerUnits)
{
    view.price = price(1, 0.99);

    const Candidate& winner = winner_of(route(request, std::vector{view}));

    EXPECT_EQ(winner.unit_count, 2);
    EXPECT_NEAR(winner.cost, 8, 0.01);
    EXPECT_EQ(winner.plan.start_s, 0);
}

TEST_F(PlaceCounts, WhatFindsNoUnitsInTheCheapHoursGivesWayToFewerUnits)
{
    view.price = price(1, 0.2);
    const double midnight_s = Seconds(parse_rfc3339("2026-11-19T00:00:00Z").value() - kNow).count();
    view.availability.take(midnight_s, midnight_s + 6 * kHour_s, 6);

    const Candidate& winner = winner_of(route(request, std::vector{view}));

    EXPECT_EQ(winner.unit_count, 2);
    EXPECT_EQ(winner.plan.start_s, 0);
}

TEST_F(PlaceCounts, BeyondTheBudgetAtEveryCountItIsRemoved)
{
    view.price = price(1, 0.99);
    request.budget = 5;

    const Decision decision = route(request, std::vector{view});

    EXPECT_FALSE(decision.winner);
    EXPECT_EQ(decision.candidates[0].removed_by, Filter::kBudget);
}

TEST(Place, WhatEarlierRunsTookIsNotDoubted)
{
    std::vector<PastRun> runs;
    for (const char* id : {"ut_alpha", "ut_beta"}) {
        for (int i = 0; i < 10; ++i) {
            PastRun run;
            run.job_type = "app/x";
            run.unit_type = id;
            run.actual_s = std::string(id) == "ut_alpha" ? 100 : 120;
            run.ended_at = kNow - std::chrono::hours(i + 1);
            runs.push_back(run);
        }
    }
    RouteKnowledge knowledge;
    knowledge.runs = std::make_shared<RunHistory>(runs, kNow);
    std::vector<UnitTypeView> views{unit_type("alpha"), unit_type("beta")};
    views[0].trust_factor = 0.5;
    RouteRequest request;
    request.job_type = "app/x";
    request.transfer.now = kNow;

    const Decision decision = route(request, views, knowledge);

    EXPECT_EQ(winner_of(decision).center, "alpha") << "its measurements say nothing of this job";
    EXPECT_EQ(winner_of(decision).trust_penalty_s, 0);
}

TEST(Place, AJobOfWhichNothingIsKnownIsPredictedByTheTimeAskedFor)
{
    std::vector<PastRun> runs;
    for (int i = 0; i < 40; ++i) {
        PastRun run;
        run.owner = "ann";
        run.job_type = "app/" + std::to_string(i);
        run.unit_type = "ut_alpha";
        run.asked_s = 100.0 * (1 + (i * 17) % 40);
        run.actual_s = 0.4 * run.asked_s;
        run.ended_at = kNow - std::chrono::hours(i + 1);
        runs.push_back(run);
    }
    RouteKnowledge knowledge;
    knowledge.runs = std::make_shared<RunHistory>(runs, kNow);
    const std::vector<UnitTypeView> views{unit_type("alpha")};
    RouteTable table(views, knowledge);
    RouteRequest request;
    request.job_type = "new";
    request.owner = "ann";
    request.transfer.now = kNow;
    const auto decide = [&](std::int64_t asked_s) {
        request.asked_s = asked_s;
        return route(request, table);
    };

    const Decision shorter = decide(500);
    const Decision longer = decide(4000);
    const Decision silent = decide(0);

    EXPECT_NEAR(winner_of(shorter).prediction.run_s, 200, 60);
    EXPECT_NEAR(winner_of(longer).prediction.run_s, 1600, 400);
    EXPECT_LE(winner_of(longer).prediction.high_s, 4000);
    EXPECT_NE(winner_of(longer).rungs.at(0).text.find("% of the time asked for (40 runs of its user)"),
              std::string::npos)
        << winner_of(longer).rungs.at(0).text;
    EXPECT_EQ(winner_of(silent).rungs.at(0).text, "runs of 40 other types");
    EXPECT_EQ(winner_of(decide(500)).prediction.run_s, winner_of(shorter).prediction.run_s);
}

TEST(Place, DecisionAndExplanationDoubtTheSame)
{
    std::vector<UnitTypeView> views{unit_type("alpha"), unit_type("beta")};
    views[0].trust_factor = 0.5;
    RouteRequest request = job_of(1);
    request.operators.push_back({"fft1d", "n=1", 10, 1e9, 1e8}); // measured nowhere

    const Decision decision = route(request, views);

    EXPECT_EQ(winner_of(decision).center, "beta");
    for (const Candidate& one : decision.candidates) {
        EXPECT_NEAR(one.trust_penalty_s, one.center == "alpha" ? kHour_s : 0, 1e-6);
        EXPECT_DOUBLE_EQ(one.objective, objective(request.prefer, {one.judged_s(request.transfer), 0, 0}));
    }
    EXPECT_NE(decision.candidates[1].reason.find("not fully trusted"), std::string::npos)
        << decision.candidates[1].reason;
}

TEST(Place, ABudgetIsNotMissedByARounding)
{
    UnitTypeView view = unit_type("alpha", 3);
    view.price = price(0.1, 0.1);
    RouteRequest request = job_of(1);
    request.units.count = 3;
    request.budget = 0.3; // 3 times 0.1 is a little more

    EXPECT_TRUE(route(request, std::vector{view}).winner);
    request.transfer.deadline = kNow + 20h;
    EXPECT_TRUE(route(request, std::vector{view}).winner);
    request.budget = 0.2999;
    EXPECT_FALSE(route(request, std::vector{view}).winner);
}

TEST(Place, ACheaperHourIsNotWaitedForPastTheDeadline)
{
    NetworkProfile::Known network{};
    for (std::size_t hour = 0; hour < network.hours.size(); ++hour)
        network.hours[hour] = {3, hour % 24 < 10 ? 1e8 : 5e7, 0};
    network.overall = {504, 1e8, 0};
    PriceEntry entry;
    entry.per_unit_hour_micros = to_micros(1);
    entry.bands = {{{}, 10, 12, to_micros(0.1)}};
    UnitTypeView view = unit_type("alpha");
    view.network = std::make_shared<const NetworkProfile>(NetworkProfile::from(network));
    view.price = std::make_shared<const UnitPrice>(entry);
    view.queued_s = 7200;
    RouteRequest request = job_of(1.0 / 6);
    request.transfer.in_bytes = 6e10; // 10 min now, 20 min at 10:00
    request.transfer.deadline = kNow + 8700s;
    request.prefer = {0, 1, 0};

    const Decision decision = route(request, std::vector{view});

    ASSERT_TRUE(decision.winner) << decision.candidates[0].reason;
    EXPECT_FALSE(winner_of(decision).plan.window);
    request.transfer.deadline = kNow + 9100s;
    EXPECT_TRUE(winner_of(route(request, std::vector{view})).plan.window) << "that leaves time enough";
}

TEST(Place, TensOfThousandsOfEqualPlacesAreDecidedAmong)
{
    constexpr int kPlaces = 40'000;
    std::vector<UnitTypeView> views(kPlaces, unit_type("same", 4));
    for (int i = 0; i < kPlaces; ++i) {
        views[static_cast<std::size_t>(i)].id = UnitTypeId{"ut_" + std::to_string(100'000 + i)};
        views[static_cast<std::size_t>(i)].price = price(1, 0.5);
    }
    RouteRequest request = job_of(1);
    request.transfer.deadline = kNow + 20h;

    const Decision decision = route(request, views);

    EXPECT_EQ(winner_of(decision).unit_type_id.value, "ut_100000");
}

} // namespace
} // namespace fathom
