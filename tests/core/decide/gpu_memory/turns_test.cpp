#include "core/decide/gpu_memory/turns.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

namespace fathom::gpu {
namespace {

using Orders = std::vector<TurnOrder>;

TEST(GpuTurns, WhoIsAloneKeepsTheTurn)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5});
    turns.add("job", {.gpus = {"gpu-0"}}, 0);
    turns.want("job", 0);

    EXPECT_EQ(turns.decide(0), (Orders{{"job", TurnAction::kStart}}));
    EXPECT_EQ(turns.decide(1000), Orders{});
    EXPECT_TRUE(turns.has_turn("job"));
}

TEST(GpuTurns, ATurnEndsWithAnIterationAfterItsSliceAndBetweenKernelsAfterTheLongest)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5});
    turns.add("first", {.gpus = {"gpu-0"}}, 0);
    turns.add("second", {.gpus = {"gpu-0"}}, 0);
    turns.want("first", 0);
    (void)turns.decide(0);
    turns.want("second", 0.5);

    EXPECT_EQ(turns.decide(0.5), Orders{});
    EXPECT_EQ(turns.next_moment_s(), 1);
    EXPECT_EQ(turns.decide(1), (Orders{{"first", TurnAction::kEndAfterIteration}}));
    EXPECT_EQ(turns.decide(2), Orders{});
    EXPECT_EQ(turns.next_moment_s(), 5);
    EXPECT_EQ(turns.decide(5), (Orders{{"first", TurnAction::kEndNow}}));
    turns.give_back("first", 5.1);
    EXPECT_EQ(turns.decide(5.1), (Orders{{"second", TurnAction::kStart}}));
    EXPECT_DOUBLE_EQ(turns.used_s("first"), 5.1);
    EXPECT_DOUBLE_EQ(turns.longest_wait_s("second"), 4.6);
}

/// Jobs that always want the GPU and whose iterations take 0.1 s, for a while.
std::map<std::string, double> run(Turns& turns, const std::vector<std::string>& names, double until_s)
{
    std::optional<std::string> holder;
    for (const std::string& name : names)
        turns.want(name, 0);
    bool is_to_end = false;
    for (double now = 0; now < until_s; now += 0.1) {
        for (const TurnOrder& order : turns.decide(now)) {
            if (order.action == TurnAction::kStart) {
                EXPECT_FALSE(holder) << "two have the turn";
                holder = order.client;
                is_to_end = false;
            } else {
                is_to_end = true;
            }
        }
        if (holder && is_to_end) {
            turns.give_back(*holder, now);
            turns.want(*holder, now);
            holder.reset();
        }
    }
    std::map<std::string, double> used;
    for (const std::string& name : names)
        used[name] = turns.used_s(name);
    return used;
}

TEST(GpuTurns, TimeIsSharedByShares)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5});
    turns.add("half", {.gpus = {"gpu-0"}, .share = 2}, 0);
    turns.add("quarter", {.gpus = {"gpu-0"}, .share = 1}, 0);
    turns.add("other quarter", {.gpus = {"gpu-0"}, .share = 1}, 0);

    const auto used = run(turns, {"half", "quarter", "other quarter"}, 1000);

    EXPECT_NEAR(used.at("half") / used.at("quarter"), 2, 0.1);
    EXPECT_NEAR(used.at("quarter") / used.at("other quarter"), 1, 0.1);
}

TEST(GpuTurns, HigherPriorityComesFirstButNobodyWaitsForEver)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5, .most_wait_s = 20});
    turns.add("high", {.gpus = {"gpu-0"}, .priority = 1}, 0);
    turns.add("high too", {.gpus = {"gpu-0"}, .priority = 1}, 0);
    turns.add("low", {.gpus = {"gpu-0"}}, 0);

    const auto used = run(turns, {"high", "high too", "low"}, 400);

    EXPECT_GT(used.at("high"), 5 * used.at("low"));
    EXPECT_GT(used.at("low"), 10);
    EXPECT_LE(turns.longest_wait_s("low"), 20 + 2 * 5);
}

TEST(GpuTurns, WhoComesLaterOrWasIdleHasNoRightToThePast)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5});
    turns.add("old", {.gpus = {"gpu-0"}}, 0);
    turns.want("old", 0);
    (void)turns.decide(0);
    turns.add("idle", {.gpus = {"gpu-0"}}, 0);
    turns.add("new", {.gpus = {"gpu-0"}}, 500);
    turns.give_back("old", 1000);
    turns.want("old", 1000);
    turns.want("new", 1000);
    turns.want("idle", 1000);

    const auto first = turns.decide(1000);
    ASSERT_EQ(first.size(), 1U);
    turns.give_back(first[0].client, 1001);
    turns.want(first[0].client, 1001);
    const auto second = turns.decide(1001);
    ASSERT_EQ(second.size(), 1U);

    EXPECT_NE(second[0].client, first[0].client);
}

TEST(GpuTurns, AJobOnTwoGpusHasBothOrNone)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5});
    turns.add("left", {.gpus = {"gpu-0"}}, 0);
    turns.add("both", {.gpus = {"gpu-0", "gpu-1"}}, 0);
    turns.add("right", {.gpus = {"gpu-1"}}, 0);
    turns.want("left", 0);
    (void)turns.decide(0);
    turns.want("both", 1);
    turns.want("right", 2);

    // The right GPU is free, but who waits for both comes first, and would wait for ever if it did not.
    EXPECT_EQ(turns.decide(2), (Orders{{"left", TurnAction::kEndAfterIteration}}));
    turns.give_back("left", 2.5);
    EXPECT_EQ(turns.decide(2.5), (Orders{{"both", TurnAction::kStart}}));
}

TEST(GpuTurns, WhoDiesGivesItsTurnBackAtOnce)
{
    Turns turns({});
    turns.add("first", {.gpus = {"gpu-0"}}, 0);
    turns.add("second", {.gpus = {"gpu-0"}}, 0);
    turns.want("first", 0);
    turns.want("second", 0);
    const auto orders = turns.decide(0);
    ASSERT_EQ(orders.size(), 1U);

    turns.remove(orders[0].client, 0.2);

    EXPECT_EQ(turns.decide(0.2).size(), 1U);
}

TEST(GpuTurns, WhoDoesNotGiveTheTurnBackIsEndedOnceAndOnlyWhereOthersWait)
{
    Turns turns({.slice_s = 1, .most_slice_s = 5, .most_overrun_s = 8});
    turns.add("hangs", {.gpus = {"gpu-0"}}, 0);
    turns.add("waits", {.gpus = {"gpu-0"}}, 0);
    turns.want("hangs", 0);
    (void)turns.decide(0);
    EXPECT_EQ(turns.decide(100), Orders{});
    turns.want("waits", 100);

    // Its iteration has the usual time to end, though it had the turn for long.
    EXPECT_EQ(turns.decide(100), (Orders{{"hangs", TurnAction::kEndAfterIteration}}));
    EXPECT_EQ(turns.next_moment_s(), 104);
    EXPECT_EQ(turns.decide(104), (Orders{{"hangs", TurnAction::kEndNow}}));
    EXPECT_EQ(turns.next_moment_s(), 114);
    EXPECT_EQ(turns.decide(113.9), Orders{});
    EXPECT_EQ(turns.decide(114), (Orders{{"hangs", TurnAction::kEndByForce}}));
    EXPECT_EQ(turns.decide(200), Orders{});
    turns.remove("hangs", 201);
    EXPECT_EQ(turns.decide(201), (Orders{{"waits", TurnAction::kStart}}));
}

TEST(GpuTurns, WhoHadTheTurnKeepsItWhereNobodyElseHasIt)
{
    Turns turns({});
    turns.add("holder", {.gpus = {"gpu-0"}}, 0);
    turns.add("other", {.gpus = {"gpu-0"}}, 0);
    turns.want("other", 0);

    turns.keep("holder", 0);
    turns.keep("other", 0);

    EXPECT_TRUE(turns.has_turn("holder"));
    EXPECT_FALSE(turns.has_turn("other"));
    EXPECT_EQ(turns.decide(0), Orders{});
}

RC_GTEST_PROP(GpuTurnsProperty, NeverTwoOnOneGpuAndNoWaitWithoutEnd, ())
{
    const TurnSettings settings{.slice_s = 1, .most_slice_s = 3, .most_wait_s = 10};
    Turns turns(settings);
    const int jobs = *rc::gen::inRange(1, 7);
    std::vector<std::string> names;
    std::map<std::string, std::set<std::string>> gpus;
    for (int i = 0; i < jobs; ++i) {
        names.push_back("job-" + std::to_string(i));
        std::set<std::string> own{"gpu-" + std::to_string(*rc::gen::inRange(0, 3))};
        if (*rc::gen::arbitrary<bool>()) own.insert("gpu-" + std::to_string(*rc::gen::inRange(0, 3)));
        gpus[names.back()] = own;
        turns.add(names.back(),
                  {.gpus = own, .share = *rc::gen::element(0.5, 1.0, 4.0), .priority = *rc::gen::inRange(0, 3)}, 0);
    }
    std::map<std::string, double> waits_since;
    const double bound = settings.most_wait_s + 2 * jobs * settings.most_slice_s;
    for (double now = 0; now < 300; now += 0.25) {
        for (const std::string& name : names) {
            if (turns.has_turn(name) || waits_since.contains(name) ||
                !*rc::gen::weightedElement<bool>({{1, true}, {3, false}}))
                continue;
            turns.want(name, now);
            waits_since[name] = now;
        }
        for (const TurnOrder& order : turns.decide(now)) {
            if (order.action == TurnAction::kStart) {
                RC_ASSERT(now - waits_since.at(order.client) <= bound);
                waits_since.erase(order.client);
            } else if (order.action == TurnAction::kEndNow || *rc::gen::arbitrary<bool>()) {
                turns.give_back(order.client, now);
            }
        }
        std::set<std::string> busy;
        for (const std::string& name : names) {
            if (!turns.has_turn(name)) continue;
            for (const std::string& gpu : gpus.at(name))
                RC_ASSERT(busy.insert(gpu).second);
        }
    }
}

/// Whoever comes first of those that may.
std::string first_in_line(const std::vector<std::string>& /*holders*/, const std::vector<std::string>& waiting)
{
    return waiting.front();
}

Turns two_at_once()
{
    Turns turns({.slice_s = 1, .most_slice_s = 5, .most_overrun_s = 8, .at_once = 2});
    for (const char* name : {"a", "b", "c"})
        turns.add(name, {.gpus = {"gpu-0"}}, 0);
    return turns;
}

TEST(GpuTurns, TwoHaveTheTurnAtOnceOnlyWhereSomebodyChoosesTheSecond)
{
    Turns turns = two_at_once();
    turns.want("a", 0);
    turns.want("b", 0);
    turns.want("c", 0);

    EXPECT_EQ(turns.decide(0), (Orders{{"a", TurnAction::kStart}})) << "nobody is asked";
    EXPECT_EQ(turns.decide(0, [](const auto&, const auto&) { return std::string(); }), Orders{});
    EXPECT_EQ(turns.decide(0, [](const auto&, const auto&) { return std::string("nobody"); }), Orders{});
    const auto last = [](const std::vector<std::string>& holders, const std::vector<std::string>& waiting) {
        EXPECT_EQ(holders, std::vector<std::string>{"a"});
        EXPECT_EQ(waiting, (std::vector<std::string>{"b", "c"}));
        return waiting.back();
    };
    EXPECT_EQ(turns.decide(0, last), (Orders{{"c", TurnAction::kStart}}));
    EXPECT_EQ(turns.decide(0.5, first_in_line), Orders{}) << "a third has no place";
    EXPECT_EQ(turns.holders_beside("a"), std::vector<std::string>{"c"});
    EXPECT_EQ(turns.holders_beside("b"), (std::vector<std::string>{"a", "c"}));
}

/// Else who is first in line would wait longer since others were let go.
TEST(GpuTurns, WhoIsLetGoBesideOthersEndsWhenTheyDo)
{
    Turns turns = two_at_once();
    turns.want("a", 0);
    (void)turns.decide(0, first_in_line);
    turns.want("c", 0.8);
    (void)turns.decide(0.8, first_in_line);
    ASSERT_TRUE(turns.has_turn("c"));
    turns.want("b", 0.9);

    EXPECT_EQ(turns.next_moment_s(), 1);
    EXPECT_EQ(turns.decide(1, first_in_line),
              (Orders{{"a", TurnAction::kEndAfterIteration}, {"c", TurnAction::kEndAfterIteration}}));
    turns.give_back("a", 1.1);
    turns.want("a", 1.1);
    EXPECT_EQ(turns.decide(1.1, first_in_line), Orders{}) << "nobody begins beside a turn that ends";
    turns.give_back("c", 1.2);
    turns.want("c", 1.2);
    const Orders next = turns.decide(1.2, first_in_line);
    ASSERT_EQ(next.size(), 2U);
    EXPECT_EQ(next[0], (TurnOrder{"b", TurnAction::kStart}));
}

TEST(GpuTurns, WhoPartsEndsItsTurnAlsoWhereNobodyWaitsAndIsNotEndedByForce)
{
    Turns turns = two_at_once();
    turns.want("a", 0);
    turns.want("b", 0);
    (void)turns.decide(0, first_in_line);

    turns.part("b", 10);
    turns.part("b", 11);
    EXPECT_TRUE(turns.is_ending("b"));
    EXPECT_FALSE(turns.is_ending("a"));
    EXPECT_EQ(turns.next_moment_s(), 10);
    EXPECT_EQ(turns.decide(11, first_in_line), (Orders{{"b", TurnAction::kEndAfterIteration}}));
    EXPECT_EQ(turns.decide(1000, first_in_line), Orders{});
    turns.part_now("b", 1000);
    EXPECT_EQ(turns.decide(1000, first_in_line), (Orders{{"b", TurnAction::kEndNow}}));
    EXPECT_EQ(turns.decide(2000, first_in_line), Orders{});
    turns.give_back("b", 2000);

    turns.part("b", 2000); // has none
    EXPECT_EQ(turns.decide(2000, first_in_line), Orders{});
    EXPECT_TRUE(turns.has_turn("a"));
}

/// Two may have had the turn before a manager that began anew.
TEST(GpuTurns, AsManyKeepTheTurnAsMayHaveItAtOnce)
{
    Turns turns = two_at_once();
    for (const char* name : {"a", "b", "c"})
        turns.keep(name, 0);

    EXPECT_TRUE(turns.has_turn("a"));
    EXPECT_TRUE(turns.has_turn("b"));
    EXPECT_FALSE(turns.has_turn("c"));
}

RC_GTEST_PROP(GpuTurnsProperty, NeverMoreOnOneGpuThanMayBeAndNoWaitWithoutEnd, ())
{
    const auto at_once = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
    const TurnSettings settings{.slice_s = 1, .most_slice_s = 3, .most_wait_s = 10, .at_once = at_once};
    Turns turns(settings);
    const int jobs = *rc::gen::inRange(1, 7);
    std::vector<std::string> names;
    std::map<std::string, std::set<std::string>> gpus;
    for (int i = 0; i < jobs; ++i) {
        names.push_back("job-" + std::to_string(i));
        std::set<std::string> own{"gpu-" + std::to_string(*rc::gen::inRange(0, 3))};
        if (*rc::gen::arbitrary<bool>()) own.insert("gpu-" + std::to_string(*rc::gen::inRange(0, 3)));
        gpus[names.back()] = own;
        turns.add(names.back(), {.gpus = own, .priority = *rc::gen::inRange(0, 3)}, 0);
    }
    const ChoosePartner choose = [](const auto&, const std::vector<std::string>& waiting) {
        return *rc::gen::arbitrary<bool>() ? waiting.at(*rc::gen::inRange<std::size_t>(0, waiting.size()))
                                           : std::string();
    };
    std::map<std::string, double> waits_since;
    const double bound = settings.most_wait_s + 2 * jobs * settings.most_slice_s;
    for (double now = 0; now < 200; now += 0.25) {
        for (const std::string& name : names) {
            if (turns.has_turn(name)) {
                if (*rc::gen::weightedElement<bool>({{1, true}, {20, false}})) turns.part(name, now);
                continue;
            }
            if (waits_since.contains(name) || !*rc::gen::weightedElement<bool>({{1, true}, {3, false}})) continue;
            turns.want(name, now);
            waits_since[name] = now;
        }
        for (const TurnOrder& order : turns.decide(now, choose)) {
            if (order.action == TurnAction::kStart) {
                RC_ASSERT(now - waits_since.at(order.client) <= bound);
                waits_since.erase(order.client);
            } else if (order.action == TurnAction::kEndNow || *rc::gen::arbitrary<bool>()) {
                turns.give_back(order.client, now);
            }
        }
        std::map<std::string, std::size_t> holders;
        for (const std::string& name : names) {
            if (!turns.has_turn(name)) continue;
            for (const std::string& gpu : gpus.at(name))
                RC_ASSERT(++holders[gpu] <= at_once);
        }
    }
}

} // namespace
} // namespace fathom::gpu
