#include "core/decide/probing/probe_budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace fathom {
namespace {

using namespace std::chrono;

const Timestamp kNow = sys_days(2026y / November / 21);

TEST(ProbeBudget, IsAShareOfTheUnitSecondsOfThirtyDays)
{
    const ProbeBudget budget{.share = 0.001, .unit_count = 1, .used_s = 2000, .reserved_s = 500};

    EXPECT_DOUBLE_EQ(limit_s(budget), 2592);
    EXPECT_DOUBLE_EQ(left_s(budget), 92);
    EXPECT_DOUBLE_EQ(left_s({.share = 0.001, .unit_count = 1, .used_s = 2600, .reserved_s = 0}), 0);
}

TEST(ProbeBudget, RoomComesAsProbesLeaveTheWindow)
{
    const ProbeBudget budget{.share = 0.001, .unit_count = 1, .used_s = 2592, .reserved_s = 0};
    const std::vector<SpentProbe> spent{{kNow - days(1), 2542}, {kNow - days(30) + hours(3), 50}};

    EXPECT_EQ(earliest_room(budget, 40, spent, kNow), kNow + hours(3));
    EXPECT_EQ(earliest_room(budget, 60, spent, kNow), kNow + days(29));
    EXPECT_EQ(earliest_room(budget, 2593, spent, kNow), std::nullopt);
    EXPECT_EQ(earliest_room({.share = 0.001, .unit_count = 1, .used_s = 0, .reserved_s = 0}, 60, {}, kNow), kNow);
    EXPECT_EQ(earliest_room({.share = 0.001, .unit_count = 1, .used_s = 0, .reserved_s = 2592}, 60, {}, kNow),
              std::nullopt);
}

TEST(ProbeBudget, ARefusalGivesTheFiguresAndTheWayOut)
{
    const ProbeBudget budget{.share = 0.001, .unit_count = 1, .used_s = 2500, .reserved_s = 70};
    const std::vector<SpentProbe> spent{{kNow - days(30) + hours(3), 2500}};

    EXPECT_EQ(explain_refusal("alpha", budget, 70, spent, kNow),
              "the probe budget of center alpha does not allow it: of 2592 s in 30 days, 2500 s are used and 70 s "
              "reserved, and this probe may take 70 s; it has room in 3 h; "
              "`fathom center set alpha --probe-share 0.0011` gives it room");
    EXPECT_EQ(
        explain_refusal("alpha", {.share = 0, .unit_count = 2, .used_s = 0, .reserved_s = 0}, 70, {}, kNow),
        "center alpha takes no probes: its probe share is 0; `fathom center set alpha --probe-share 0.0001` gives "
        "it room");
}

RC_GTEST_PROP(ProbeBudgetProperty, AtTheTimeThatIsNamedItHasRoom, ())
{
    ProbeBudget budget{.share = *rc::gen::inRange(1, 50) / 1e4, .unit_count = *rc::gen::inRange<std::int64_t>(1, 40)};
    budget.reserved_s = *rc::gen::inRange(0, 3000);
    const double cost_s = *rc::gen::inRange(1, 3000);
    std::vector<SpentProbe> spent;
    for (int i = *rc::gen::inRange(0, 20); i > 0; --i)
        spent.push_back({kNow - minutes(*rc::gen::inRange(0, 43200)), 1.0 * *rc::gen::inRange(1, 900)});
    for (const SpentProbe& one : spent)
        budget.used_s += one.unit_s;

    const std::optional<Timestamp> room = earliest_room(budget, cost_s, spent, kNow);
    const bool never = cost_s + budget.reserved_s > limit_s(budget);
    RC_ASSERT(room.has_value() != never);
    if (!room) return;
    ProbeBudget then = budget;
    then.used_s = 0;
    for (const SpentProbe& one : spent)
        if (one.ended_at + kProbeBudgetWindow > *room) then.used_s += one.unit_s;
    RC_ASSERT(then.used_s + then.reserved_s + cost_s <= limit_s(budget) + 1e-6);
}

} // namespace
} // namespace fathom
