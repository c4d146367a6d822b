#include "core/decide/queue/deferred_start.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// Runs 100 s on type 0, 20 s on type 1.
WaitingJobView job(std::string id)
{
    WaitingJobView view;
    view.id = std::move(id);
    view.options = {{0, 1, 100, 1}, {1, 1, 20, 1}};
    return view;
}

/// One free unit of type 0; one of type 1 that is free in 30 s.
std::vector<UnitTypeLoad> types(double load)
{
    return {{1, 1, 1, load, {}}, {1, 0, 1, load, {{30, 1}}}};
}

// At load 0.75 the gain of 80 s is worth a wait of 80 · √0.25 = 40 s.
TEST(DeferredStart, SaysWhatAJobWaitsForAndForHowLongItWould)
{
    const std::vector<DeferredStart> waits = find_deferred_starts(std::vector{job("j")}, types(0.75), {});

    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].job, 0U);
    EXPECT_EQ(waits[0].option, 1U);
    EXPECT_DOUBLE_EQ(waits[0].wait_s, 30);
    EXPECT_DOUBLE_EQ(waits[0].longest_wait_s, 40);
}

TEST(DeferredStart, IsNoneWhereTheJobWouldStart)
{
    const std::vector jobs{job("j")};
    EXPECT_TRUE(find_deferred_starts(jobs, types(0.91), {}).empty()) << "too busy";
    EXPECT_TRUE(find_deferred_starts(jobs, types(1), {}).empty()) << "nothing is known of the load";
    EXPECT_TRUE(find_deferred_starts(jobs, types(0.5), {.rule = OrderRule::kShortestFirst}).empty());

    WaitingJobView overdue = job("j");
    overdue.waited_s = 3600;
    EXPECT_TRUE(find_deferred_starts(std::vector{overdue}, types(0.5), {}).empty());
}

TEST(DeferredStart, IsNoneWhereNothingIsFree)
{
    std::vector<UnitTypeLoad> full = types(0.5);
    full[0].free_units = 0;

    EXPECT_TRUE(find_deferred_starts(std::vector{job("j")}, full, {}).empty());
}

// What does not start although it fits is what is said to wait, and the other way round.
TEST(DeferredStart, AgreesWithTheStarts)
{
    for (double load = 0.05; load <= 1; load += 0.05) {
        const std::vector jobs{job("a")};
        const std::size_t started = order_starts(jobs, types(load), {}).size();
        EXPECT_EQ(find_deferred_starts(jobs, types(load), {}).size(), 1 - started) << load;
    }
}

} // namespace
} // namespace fathom
