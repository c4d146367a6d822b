// What a job that shares a GPU is predicted at a start later than the first: who is there now may have gone by then.
#include "core/decide/routing/route.hpp"
#include "tests/core/decide/routing/place_fixture.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::job_of;
using test::kHour_s;
using test::kNow;
using test::price;
using test::unit_type;
using test::winner_of;

/// Ten times as dear by day as from midnight on, 14 h and 50 min from now.
UnitTypeView cheap_at_night()
{
    UnitTypeView view = unit_type("alpha");
    view.price = price(10, 1);
    return view;
}
constexpr double kMidnight_s = 14 * kHour_s + 50 * 60;

/// Keeps half of its speed as long as those who are there, and wants to be cheap.
RouteRequest cheap_job_beside(double hours, const UnitTypeView& view, double until_s)
{
    RouteRequest request = job_of(hours);
    request.gpu_shares = {{view.id.value, {.share = 0.5, .spread = 0.1, .until_s = until_s, .neighbours = 2}}};
    request.prefer = {0, 1, 0};
    request.transfer.deadline = kNow + std::chrono::hours(22);
    return request;
}

TEST(PlaceLaterStart, IsPredictedWithoutThoseWhoWillHaveGone)
{
    const UnitTypeView view = cheap_at_night();

    const Decision decision = route(cheap_job_beside(1, view, 8 * kHour_s), std::vector{view});

    const Candidate& winner = winner_of(decision);
    ASSERT_TRUE(winner.plan.window);
    EXPECT_NEAR(winner.plan.start_s, kMidnight_s, 1);
    EXPECT_NEAR(winner.prediction.run_s, kHour_s, 1);
    EXPECT_NEAR(winner.compute_s, kHour_s, 1);
    EXPECT_NEAR(winner.raw.run_s, kHour_s, 1);
    EXPECT_NEAR(winner.cost, 1, 0.01) << "an hour, not two";
    EXPECT_FALSE(winner.gpu_share.is_known);
}

TEST(PlaceLaterStart, CountsThoseWhoWillBeThereStillForAsLongAsTheyAre)
{
    const UnitTypeView view = cheap_at_night();

    const Decision decision = route(cheap_job_beside(1, view, kMidnight_s + kHour_s), std::vector{view});

    const Candidate& winner = winner_of(decision);
    ASSERT_TRUE(winner.plan.window);
    EXPECT_NEAR(winner.plan.start_s, kMidnight_s, 1);
    EXPECT_NEAR(winner.prediction.run_s, 1.5 * kHour_s, 1) << "half an hour of it is done in their hour";
    EXPECT_TRUE(winner.gpu_share.is_known);
    EXPECT_NEAR(winner.gpu_share.factor, 1.5, 1e-3);
    EXPECT_NEAR(winner.raw.run_s, 1.5 * kHour_s, 1);
    EXPECT_LE(winner.prediction.low_s, winner.prediction.run_s);
    EXPECT_GE(winner.prediction.high_s, winner.prediction.run_s);
}

TEST(PlaceLaterStart, IsAsAtTheFirstWhereTheyStayLonger)
{
    const UnitTypeView view = cheap_at_night();

    const Decision decision = route(cheap_job_beside(1, view, 1e9), std::vector{view});

    EXPECT_NEAR(winner_of(decision).prediction.run_s, 2 * kHour_s, 1);
    EXPECT_NEAR(winner_of(decision).gpu_share.factor, 2, 1e-9);
}

// Data take an hour by day and three at night, and the center's own queue leaves no time for that.
TEST(PlaceLaterStart, OneThatWouldBeTooLateLeavesThePredictionOfTheFirstAsItWas)
{
    UnitTypeView view = cheap_at_night();
    view.queued_s = 18.5 * kHour_s;
    NetworkProfile::Known network{};
    for (std::size_t hour = 0; hour < network.days.size(); ++hour)
        network.days.at(hour) = {.count = 10, .median_bytes = hour < 6 ? 1e6 / 3 : 1e6, .spread = 0};
    network.overall = {.count = 240, .median_bytes = 1e6, .spread = 0};
    view.network = std::make_shared<const NetworkProfile>(NetworkProfile::from(network));
    RouteRequest request = cheap_job_beside(1, view, 8 * kHour_s);
    request.transfer.in_bytes = 1e6 * kHour_s;

    const Decision decision = route(request, std::vector{view});

    const Candidate& winner = winner_of(decision);
    EXPECT_FALSE(winner.plan.window);
    EXPECT_NEAR(winner.prediction.run_s, 3 * kHour_s, 1);
    EXPECT_NEAR(winner.compute_s, 2 * kHour_s, 1);
    EXPECT_NEAR(winner.raw.run_s, 2 * kHour_s, 1);
    EXPECT_TRUE(winner.gpu_share.is_known);
}

// Among many unit types most are never looked at: a bound says that they cannot win.
TEST(PlaceLaterStart, APlaceIsNotPassedOverForThoseWhoWillHaveGone)
{
    std::vector<UnitTypeView> views;
    RouteRequest request = cheap_job_beside(1, unit_type("none"), 0);
    request.gpu_shares.clear();
    for (int i = 0; i < 80; ++i) {
        UnitTypeView view = unit_type("p" + std::to_string(100 + i));
        view.price = price(10, i == 79 ? 1 : 1.5); // the last is the cheapest where nobody slows the job
        if (i == 79) {
            request.gpu_shares = {
                {view.id.value, {.share = 0.5, .spread = 0.1, .until_s = 8 * kHour_s, .neighbours = 1}}};
        }
        views.push_back(view);
    }

    EXPECT_EQ(winner_of(route(request, views)).unit_type_id, views.back().id);
}

} // namespace
} // namespace fathom
