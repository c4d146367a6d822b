#include "probes/operators/projection.hpp"
#include "probes/operators/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fathom::probes {
namespace {

std::vector<double> random_values(std::size_t count)
{
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = random_signed(5, i);
    return values;
}

TEST(Projection, IsASizeAndFourNumbersOfOrderOne)
{
    const std::vector<double> projection = project(random_values(100000), 7);

    ASSERT_EQ(projection.size(), 5U);
    EXPECT_NEAR(projection[0], 1 / std::sqrt(3.0), 0.01); // of uniform numbers in [-1, 1)
    for (std::size_t i = 1; i < 5; ++i)
        EXPECT_LT(std::abs(projection[i]), 5);
}

TEST(Projection, RoundingErrorsStaySmallAndLeavingOutShows)
{
    const std::vector<double> values = random_values(100000);
    std::vector<double> rounded = values;
    for (double& value : rounded)
        value = static_cast<double>(static_cast<float>(value));
    std::vector<double> partly = values;
    for (std::size_t i = 0; i < 1000; ++i) // one in a hundred was not computed
        partly[i] = 0;
    const std::vector<double> right = project(values, 7);

    double furthest = 0;
    double missing = 0;
    for (std::size_t i = 1; i < 5; ++i) {
        furthest = std::max(furthest, std::abs(project(rounded, 7)[i] - right[i]));
        missing = std::max(missing, std::abs(project(partly, 7)[i] - right[i]));
    }
    EXPECT_LT(furthest, 1e-6);
    EXPECT_GT(missing, 0.01);
}

TEST(Projection, OtherSeedsGiveOtherSums)
{
    EXPECT_GT(std::abs(project(random_values(1000), 7)[1] - project(random_values(1000), 8)[1]), 1e-3);
}

TEST(Projection, OfNothingOrOfWhatIsNoNumberThereIsNone)
{
    EXPECT_TRUE(project({}, 7).empty());
    EXPECT_TRUE(project(std::vector<double>{1, std::numeric_limits<double>::infinity()}, 7).empty());
    EXPECT_EQ(project(std::vector<double>(10, 0.0), 7), std::vector<double>(5, 0.0));
}

} // namespace
} // namespace fathom::probes
