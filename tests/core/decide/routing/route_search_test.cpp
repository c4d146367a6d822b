// Places are looked at in order of their bounds, which are found in batches.
#include "tests/core/decide/routing/bounded_unit_types.hpp"
#include "tests/support/plain_route.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::bounded_unit_type;
using test::data_request;
using test::kMorning;

constexpr int kStanding = 1000;
constexpr int kOpenEach = 50;

/// Each is better than all before it, and but for each fiftieth has one free unit for ever: what the first batch finds,
/// and most of what the second does, is no place for a job of two.
std::vector<UnitTypeView> better_and_better()
{
    std::vector<UnitTypeView> views;
    for (int i = 0; i < kStanding; ++i) {
        UnitTypeView& view = views.emplace_back(bounded_unit_type(i, 0.01 + 0.0002 * (kStanding - 1 - i), 1e8));
        if (i % kOpenEach != 0) view.availability.take(0, Availability::kForEver, 3);
    }
    return views;
}

TEST(RouteSearch, FindsTheBestFarBehindTheFirstBounds)
{
    const std::vector<UnitTypeView> views = better_and_better();
    RouteRequest request = data_request(0.99e11);
    request.units.count = 2;
    RouteTable table(views);

    const Decision decision = route(request, table);

    constexpr int kShown = 16;
    ASSERT_TRUE(decision.winner);
    ASSERT_GE(decision.candidates.size(), std::size_t{kShown});
    for (int i = 0; i < kShown; ++i) {
        const Candidate& shown = decision.candidates[static_cast<std::size_t>(i)];
        EXPECT_TRUE(shown.feasible);
        EXPECT_EQ(shown.unit_type_id.value, "ut_" + std::to_string(1000 + kStanding - (i + 1) * kOpenEach));
    }
    ASSERT_EQ(decision.filter_trace.steps.size(), 1U);
    EXPECT_GE(decision.filter_trace.steps[0].removed, kShown * (kOpenEach - 1)) << "it looked at all that seem better";
}

TEST(RouteSearch, FindsTheBestOfManyCountsFarBehindTheFirstBounds)
{
    const std::vector<UnitTypeView> views = better_and_better();
    RouteRequest request = data_request(0.99e11);
    request.units.count.reset();
    request.units.min = 2;
    request.units.max = 4;
    request.transfer.deadline = kMorning + std::chrono::hours(30);
    RouteTable table(views);

    const Decision decision = route(request, table);

    const auto plain = test::plain_route(request, views, {});
    ASSERT_TRUE(plain);
    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    EXPECT_EQ(winner.unit_type_id, views[plain->unit_type].id);
    EXPECT_EQ(winner.unit_type_id.value, "ut_" + std::to_string(1000 + kStanding - kOpenEach));
    EXPECT_EQ(winner.unit_count, plain->choice.unit_count);
    EXPECT_EQ(winner.plan.start_s, plain->choice.plan.start_s);
}

} // namespace
} // namespace fathom
