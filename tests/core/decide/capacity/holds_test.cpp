#include "core/decide/capacity/holds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

std::int64_t held_at(const std::vector<Hold>& holds, std::string_view project, double at_s)
{
    std::int64_t units = 0;
    for (const Hold& hold : holds)
        units += hold.project == project && hold.from_s <= at_s && at_s < hold.to_s ? hold.unit_count : 0;
    return units;
}

TEST(UseHolds, AJobOfTheProjectUsesWhatIsKeptForIt)
{
    std::vector<Hold> holds{{"p", 0, 100, 4}};

    use_holds(holds, {"p", 20, 50, 3});

    EXPECT_EQ(held_at(holds, "p", 10), 4);
    EXPECT_EQ(held_at(holds, "p", 30), 1);
    EXPECT_EQ(held_at(holds, "p", 50), 4);
}

TEST(UseHolds, AJobOfAnotherProjectDoesNot)
{
    std::vector<Hold> holds{{"p", 0, 100, 4}};

    use_holds(holds, {"q", 20, 50, 3});

    EXPECT_EQ(held_at(holds, "p", 30), 4);
}

TEST(UseHolds, OneJobUsesSeveralReservationsButEachUnitOnce)
{
    std::vector<Hold> holds{{"p", 0, 60, 2}, {"p", 40, 100, 2}};

    use_holds(holds, {"p", 0, 100, 3});

    EXPECT_EQ(held_at(holds, "p", 20), 0); // 2 kept, 3 used
    EXPECT_EQ(held_at(holds, "p", 50), 1); // 4 kept, 3 used
    EXPECT_EQ(held_at(holds, "p", 80), 0);
}

TEST(OpenTo, OthersSeeTheHeldUnitsAsTaken)
{
    const std::vector<Hold> holds{{"p", 10, 100, 3}};
    const Availability all(4);

    EXPECT_DOUBLE_EQ(open_to("p", all, holds).earliest_start(4, 50), 0);
    EXPECT_DOUBLE_EQ(open_to("q", all, holds).earliest_start(4, 50), 100);
    EXPECT_DOUBLE_EQ(open_to("q", all, holds).earliest_start(1, 50), 0);
    EXPECT_DOUBLE_EQ(open_to("q", all, holds).earliest_start(2, 10), 0); // over before the reservation begins
}

TEST(ClosedUntil, IsTheMaintenanceWhoseEndAStartWaitsFor)
{
    const std::vector<Closure> closures{{50, 60}, {-5, 10}, {80, 90}, {-9, -2}};

    EXPECT_DOUBLE_EQ(closed_until(closures, 0), 0);
    EXPECT_DOUBLE_EQ(closed_until(closures, 10), 10);
    EXPECT_DOUBLE_EQ(closed_until(closures, 60.5), 60);
    EXPECT_DOUBLE_EQ(closed_until(closures, 70), 0) << "it waits for something else";
}

RC_GTEST_PROP(UseHoldsProperty, LeavesWhatIsKeptMinusWhatIsUsedAtEveryMoment, ())
{
    std::vector<Hold> holds;
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
        const double from = *rc::gen::inRange(0, 20);
        holds.push_back({*rc::gen::element<std::string>("p", "q"), from, from + *rc::gen::inRange(1, 15),
                         *rc::gen::inRange<std::int64_t>(1, 5)});
    }
    const double from = *rc::gen::inRange(0, 20);
    const Hold job{"p", from, from + *rc::gen::inRange(1, 20), *rc::gen::inRange<std::int64_t>(1, 8)};
    std::vector<Hold> left = holds;

    use_holds(left, job);

    for (int at = 0; at < 45; ++at) {
        const std::int64_t used = job.from_s <= at && at < job.to_s ? job.unit_count : 0;
        RC_ASSERT(held_at(left, "p", at) == std::max<std::int64_t>(held_at(holds, "p", at) - used, 0));
        RC_ASSERT(held_at(left, "q", at) == held_at(holds, "q", at));
    }
}

} // namespace
} // namespace fathom
