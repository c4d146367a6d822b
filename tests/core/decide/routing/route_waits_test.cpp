// What a job waits for: units kept for others, its project's quota, cheap hours.
#include "core/decide/routing/route.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = parse_rfc3339("2026-11-18T09:10:00Z").value();

MeasuredOperator measured(const std::string& id, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=1";
    one.operations = 1e9;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.95;
    one.ci_high_s = median_s * 1.05;
    return one;
}

TEST(RouteTable, UnitsThatAreKeptForAnotherProjectAreTaken)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_1"};
    view.operators = {"dgemm"};
    view.unit_count = 2;
    view.availability = Availability(2);
    view.measured = {measured("dgemm", 0.01)};
    view.holds = {{"other", 0, 500, 2}};
    RouteRequest request;
    request.project = "own";
    request.operators = {{"dgemm", "n=1", 100, 1e9, 1e8}};

    EXPECT_EQ(route(request, std::vector{view}).candidates[0].wait_s, 500);
    request.project = "other";
    EXPECT_EQ(route(request, std::vector{view}).candidates[0].wait_s, 0);
}

TEST(RouteTable, AQuotaKeepsAJobWaitingOrOut)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_1"};
    view.center_name = "alpha";
    view.operators = {"dgemm"};
    view.unit_count = 8;
    view.availability = Availability(8);
    view.measured = {measured("dgemm", 0.01)};
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 100, 1e9, 1e8}};
    request.units.count = 3;
    request.quota.max_units = 4;
    request.used.units = 2;

    const Decision waits = route(request, std::vector{view});
    EXPECT_TRUE(waits.winner);
    EXPECT_FALSE(waits.can_start_now);
    EXPECT_FALSE(waits.quota_obstacle.empty());

    request.units.count = 5;
    const Decision out = route(request, std::vector{view});
    EXPECT_FALSE(out.winner);
    EXPECT_EQ(out.candidates[0].removed_by, Filter::kQuota);
}

TEST(RouteTable, AJobThatWantsItCheapWaitsForTheCheapHours)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = 1'000'000;
    entry.bands = {{{}, 0, 6, 200'000}};
    UnitTypeView view;
    view.id = UnitTypeId{"ut_1"};
    view.operators = {"dgemm"};
    view.unit_count = 1;
    view.availability = Availability(1);
    view.measured = {measured("dgemm", 0.01)};
    view.price = std::make_shared<const UnitPrice>(entry);
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 360'000, 1e9, 1e8}}; // an hour
    request.transfer.now = kNow;
    request.transfer.deadline = kNow + 20h;
    request.prefer = {0, 1, 0};

    const Decision cheap = route(request, std::vector{view});

    ASSERT_TRUE(cheap.winner);
    const Candidate& winner = cheap.candidates.at(0);
    ASSERT_TRUE(winner.plan.window);
    EXPECT_TRUE(winner.plan.window->is_for_price);
    EXPECT_EQ(winner.plan.window->start, parse_rfc3339("2026-11-19T00:00:00Z").value());
    EXPECT_NEAR(winner.cost, 0.2, 1e-6);
    EXPECT_FALSE(cheap.can_start_now);

    request.prefer = {};
    EXPECT_TRUE(route(request, std::vector{view}).can_start_now) << "an early end is all it wants";
    request.budget = 0.5;
    EXPECT_NEAR(route(request, std::vector{view}).candidates.at(0).cost, 0.2, 1e-6) << "only then it can pay";
}

} // namespace
} // namespace fathom
