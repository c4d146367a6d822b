// Counts of units, network windows and deadlines in placements; route_test.cpp has the rest.
#include "core/decide/routing/route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;

const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();

/// dgemm takes 10 ms on one unit; t(n) = serial + (1 − serial) / n, measured on 1 to 8 units.
UnitTypeView unit_type(const std::string& center, std::int64_t unit_count, std::optional<double> serial = 0.25)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = "core";
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.operators = {"dgemm"};
    view.unit_count = unit_count;
    view.availability = Availability(unit_count);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=1";
    one.operations = 1e6;
    one.median_s = one.ci_low_s = one.ci_high_s = 0.01;
    view.measured = {one};
    if (!serial) return view;
    std::vector<ScalingPoint> points;
    for (const double n : {1, 2, 3, 4, 6, 8})
        points.push_back({n, 1 / (*serial + (1 - *serial) / n)});
    view.speedups = std::make_shared<const UnitSpeedups>(UnitSpeedups{
        std::make_shared<OperatorSpeedup>("dgemm", "n=1", 1e6, fit_scaling(points, ScalingMode::kStrong).value())});
    return view;
}

/// One unit each is taken until these times.
void set_busy(UnitTypeView& view, const std::vector<double>& until_s)
{
    view.availability = Availability(view.unit_count);
    for (const double to_s : until_s)
        view.availability.take(0, to_s, 1);
}

std::shared_ptr<const NetworkProfile> network(double usual_rate, double afternoon_rate)
{
    std::vector<NetworkSample> samples;
    for (int i = 0; i < 7 * 24; ++i) {
        const Timestamp at = kNow - 8 * 24h + i * 1h;
        const int hour = hour_of_week(at) % 24;
        samples.push_back({at, hour == 14 || hour == 15 ? afternoon_rate : usual_rate});
    }
    return std::make_shared<NetworkProfile>(samples);
}

/// 100 s on one unit.
RouteRequest job()
{
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 10000, 1e6, 1e5}};
    request.transfer.now = kNow;
    return request;
}

TEST(RouteUnits, AutoTakesAsManyAsTheKneeAndSaysWhy)
{
    const std::vector catalog{unit_type("a", 16)};

    const Decision decision = route(job(), catalog);

    const Candidate& winner = decision.candidates.at(0);
    EXPECT_EQ(winner.unit_count, 3) << "0.25 + 0.75/n: knee at 0.75/0.25";
    EXPECT_EQ(winner.knee, 3);
    EXPECT_NEAR(winner.prediction.run_s, 50, 1e-3);
    EXPECT_NEAR(winner.single_run_s, 100, 1e-9);
    EXPECT_EQ(winner.count_reason, "3 units, the knee of its scaling: 6 units would be 25 % faster");
    ASSERT_EQ(winner.counts.size(), 3U);
    EXPECT_NEAR(winner.counts[1].run_s, 62.5, 1e-3);
}

TEST(RouteUnits, MoreThanTheKneeOnlyWhenTheJobAsks)
{
    const std::vector catalog{unit_type("a", 16)};
    RouteRequest request = job();
    request.units.ignore_knee = true;
    const Decision as_fast_as_possible = route(request, catalog);
    EXPECT_GT(as_fast_as_possible.candidates[0].unit_count, 12);
    EXPECT_THAT(as_fast_as_possible.assumptions, Contains(HasSubstr("its speed-up on more is that of the curve")));

    request = job();
    request.units.count = 8;
    const Decision eight = route(request, catalog);
    EXPECT_EQ(eight.candidates[0].unit_count, 8);
    EXPECT_THAT(eight.candidates[0].count_reason, HasSubstr("past the knee, as the job wants"));

    request = job();
    request.units.max = 2;
    const Decision two = route(request, catalog);
    EXPECT_EQ(two.candidates[0].unit_count, 2);
    EXPECT_EQ(two.candidates[0].count_reason, "2 units: the most that the job takes");

    request = job();
    request.units.min = 5;
    EXPECT_EQ(route(request, catalog).candidates[0].unit_count, 5);
}

TEST(RouteUnits, WithoutACurveAutoTakesTheLeastAndSaysSo)
{
    const Decision decision = route(job(), std::vector{unit_type("a", 16, std::nullopt)});

    EXPECT_EQ(decision.candidates[0].unit_count, 1);
    EXPECT_EQ(decision.candidates[0].count_reason, "1 unit: no scaling curve of its operators is known");
}

TEST(RouteUnits, FewerUnitsNowBeatMoreUnitsLater)
{
    std::vector catalog{unit_type("a", 3)};
    set_busy(catalog[0], {30});

    const Decision decision = route(job(), catalog);

    EXPECT_EQ(decision.candidates[0].unit_count, 2) << "62.5 s now against 30 + 50 s";
    EXPECT_TRUE(decision.can_start_now);
    EXPECT_THAT(decision.candidates[0].count_reason, HasSubstr("would not complete it more than 1 % earlier"));
}

TEST(RouteUnits, ANearTieGoesToFewerUnits)
{
    // 0.99 + 0.01/n: units hardly help, so that the knee is at 1, and ignoring it gains less than 1 %.
    RouteRequest request = job();
    request.units.ignore_knee = true;

    EXPECT_EQ(route(request, std::vector{unit_type("a", 16, 0.99)}).candidates[0].unit_count, 1);
}

TEST(RouteUnits, ACenterThatScalesBetterWins)
{
    const Decision decision = route(job(), std::vector{unit_type("bad", 8, 0.5), unit_type("good", 8, 0.0)});

    EXPECT_EQ(decision.candidates[0].center, "good");
    EXPECT_EQ(decision.candidates[0].unit_count, 8);
}

TEST(RouteWindows, AJobWithADeadlineWaitsForTheGoodWindow)
{
    std::vector catalog{unit_type("a", 1)};
    catalog[0].network = network(5e7, 4e8);
    RouteRequest request = job();
    request.transfer.in_bytes = 4e10;
    request.transfer.deadline = kNow + 12h;

    const Decision decision = route(request, catalog);

    EXPECT_FALSE(decision.can_start_now);
    const Candidate& winner = decision.candidates.at(0);
    ASSERT_TRUE(winner.plan.window);
    EXPECT_EQ(winner.plan.window->start, parse_rfc3339("2026-11-18T14:00:00Z").value());
    EXPECT_EQ(winner.reason, "its network is best at 14:00 UTC: transfers take 100 s then and 13.3 min now");
    EXPECT_NEAR(winner.prediction.run_s, 200, 1e-3);

    request.transfer.network = NetworkChoice::kNow;
    EXPECT_TRUE(route(request, catalog).can_start_now);
}

TEST(RouteWindows, TheWaitForAWindowCostsNothingUpToTheDeadline)
{
    std::vector catalog{unit_type("slow-now", 1), unit_type("slow-always", 1)};
    catalog[0].network = network(5e7, 4e8);
    catalog[1].network = network(5.5e7, 5.5e7);
    RouteRequest request = job();
    request.transfer.in_bytes = 4e10;
    request.transfer.deadline = kNow + 12h;
    EXPECT_EQ(route(request, catalog).candidates[0].center, "slow-now") << "in its window";

    request.transfer.deadline.reset();
    EXPECT_EQ(route(request, catalog).candidates[0].center, "slow-always") << "completes earlier";
}

TEST(RouteWindows, DataDecideWhereTheComputingIsAlike)
{
    std::vector catalog{unit_type("far", 1), unit_type("near", 1), unit_type("unknown", 1)};
    catalog[0].network = network(1e7, 1e7);
    catalog[1].network = network(1e9, 1e9);
    RouteRequest request = job();
    request.transfer.in_bytes = 1e10;

    const Decision decision = route(request, catalog);

    EXPECT_EQ(decision.candidates[0].center, "near");
    EXPECT_EQ(decision.candidates[1].center, "far");
    EXPECT_EQ(decision.candidates[2].reason, "its network was never measured");
}

TEST(RouteWindows, DataThatACenterKeepsNeedNotGoThere)
{
    std::vector catalog{unit_type("far", 1), unit_type("near", 1)};
    catalog[0].network = network(1e7, 1e7);
    catalog[1].network = network(1e9, 1e9);
    RouteRequest request = job();
    request.transfer.in_bytes = 1e10;
    request.kept_in_bytes = {{"ctr_far", 1e10}};

    const Decision kept = route(request, catalog);

    EXPECT_EQ(kept.candidates[0].center, "far");
    EXPECT_EQ(kept.candidates[0].plan.in_s, 0);
    EXPECT_NEAR(kept.candidates[1].plan.in_s, 10, 1e-6) << "all of it, where nobody keeps it";

    request.kept_in_bytes = {{"ctr_far", 9e9}};
    const Decision partly = route(request, catalog);
    EXPECT_EQ(partly.candidates[0].center, "near");
    EXPECT_NEAR(partly.candidates[1].plan.in_s, 100, 1e-6) << "the rest";
}

TEST(RouteWindows, ACandidateThatWouldMissTheDeadlineIsNotFeasible)
{
    std::vector catalog{unit_type("a", 1, std::nullopt), unit_type("b", 16)};
    RouteRequest request = job();
    request.transfer.deadline = kNow + 60s;
    const Decision decision = route(request, catalog);
    EXPECT_EQ(decision.candidates[0].center, "b") << "50 s on three units";
    EXPECT_EQ(decision.candidates[1].removed_by, Filter::kDeadline);
    EXPECT_EQ(decision.candidates[1].reason,
              "would complete 40 s after the deadline 2026-11-18T09:11:00Z (wait 0 s, run 100 s)");

    request.transfer.deadline = kNow + 40s;
    EXPECT_FALSE(route(request, catalog).winner);
}

/// Whatever the load, auto stays within what the job allows and what the unit type has.
RC_GTEST_PROP(RouteUnitsProperty, CountsStayWithinTheirLimits, ())
{
    UnitTypeView view = unit_type("a", *rc::gen::inRange<std::int64_t>(1, 20), *rc::gen::inRange(0, 100) / 100.0);
    const auto busy = *rc::gen::inRange<std::int64_t>(0, view.unit_count + 1);
    for (std::int64_t i = 0; i < busy; ++i)
        view.availability.take(0, *rc::gen::inRange(0, 200), 1);
    RouteRequest request = job();
    request.units.min = *rc::gen::inRange<std::int64_t>(1, view.unit_count + 1);
    request.units.max = request.units.min + *rc::gen::inRange<std::int64_t>(0, 10);
    request.units.ignore_knee = *rc::gen::inRange(0, 2) == 1;

    const Decision decision = route(request, std::vector{view});

    RC_ASSERT(decision.winner.has_value());
    const Candidate& winner = decision.candidates[0];
    RC_ASSERT(winner.unit_count >= request.units.min);
    RC_ASSERT(winner.unit_count <= std::min(request.units.max, view.unit_count));
    RC_ASSERT(request.units.ignore_knee || winner.unit_count <= std::max(winner.knee, request.units.min));
    for (const CountChoice& count : winner.counts)
        RC_ASSERT(winner.completion_s <= count.completion_s * 1.01 + 1e-9);
}

} // namespace
} // namespace fathom
