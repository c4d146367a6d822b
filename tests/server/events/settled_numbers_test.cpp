#include "server/events/settled_numbers.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

TEST(SettledNumbers, AreThoseBelowOneThatHasBeenThereForTheLimit)
{
    SettledNumbers numbers(1s);
    const SettledNumbers::SteadyTime start{};
    numbers.see(5, start);
    numbers.see(5, start + 400ms); // nothing new
    numbers.see(9, start + 600ms);

    EXPECT_EQ(numbers.settled(start + 999ms), 0);
    EXPECT_EQ(numbers.settled(start + 1s), 5);
    EXPECT_EQ(numbers.settled(start + 1599ms), 5);
    EXPECT_EQ(numbers.settled(start + 1600ms), 9);
    EXPECT_EQ(numbers.settled(start + 1h), 9);
}

TEST(SettledNumbers, AreJudgedByWhenALookBeganHoweverLongItTook)
{
    SettledNumbers numbers(1s);
    const SettledNumbers::SteadyTime start{};
    numbers.see(5, start);
    numbers.see(9, start + 5s); // by a look that began at 0.1 s, and was held up

    EXPECT_EQ(numbers.settled(start + 100ms), 0) << "what it does not show may have come meanwhile";
    EXPECT_EQ(numbers.settled(start + 5100ms), 5);
    EXPECT_EQ(numbers.settled(start + 6s), 9);
}

TEST(SettledNumbers, BeginAnewWhenForgotten)
{
    SettledNumbers numbers(1s);
    const SettledNumbers::SteadyTime start{};
    numbers.see(5, start);
    EXPECT_EQ(numbers.settled(start + 2s), 5);

    numbers.forget();
    EXPECT_EQ(numbers.settled(start + 3s), 0);
    numbers.see(3, start + 3s);
    EXPECT_EQ(numbers.settled(start + 4s), 3);
}

} // namespace
} // namespace fathom::server
