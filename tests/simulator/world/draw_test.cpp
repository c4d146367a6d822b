#include "simulator/world/draw.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// The standard fixes mt19937_64's 10 000th number of seed 5489; the distributions are ours.
TEST(Draw, IsTheStandardsGenerator)
{
    Draw draw(5489);
    double last{};
    for (int i = 0; i < 10'000; ++i)
        last = draw.uniform();
    EXPECT_DOUBLE_EQ(last, static_cast<double>(9981545732273789042ULL >> 11) * 0x1p-53);
}

TEST(Draw, HasTheMeansThatItSays)
{
    Draw draw(1);
    double exponential = 0;
    double normal = 0;
    double square = 0;
    for (int i = 0; i < 100'000; ++i) {
        exponential += draw.exponential(7) / 100'000;
        const double z = draw.normal();
        normal += z / 100'000;
        square += z * z / 100'000;
    }
    EXPECT_NEAR(exponential, 7, 0.1);
    EXPECT_NEAR(normal, 0, 0.02);
    EXPECT_NEAR(square, 1, 0.02);
}

} // namespace
} // namespace fathom
