#include "server/probing/scaling_step.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

const std::vector<std::int64_t> kMeasured{1, 2, 4, 8, 16};

/// Amdahl's law with a serial share, and every second point off by `noise`.
ScalingCurve curve(double serial, double noise)
{
    std::vector<ScalingPoint> points;
    double sign = 1;
    for (const std::int64_t n : kMeasured) {
        const auto count = static_cast<double>(n);
        points.push_back({count, (1 + sign * noise) / (serial + (1 - serial) / count)});
        sign = -sign;
    }
    return fit_scaling(points, ScalingMode::kStrong).value();
}

TEST(NextScalingCount, AnExactCurveNeedsNoMore)
{
    EXPECT_EQ(next_scaling_count(std::vector{curve(0.05, 0)}, 16, kMeasured), std::nullopt);
}

TEST(NextScalingCount, AnOpenCurveGetsACountThatWasNotMeasured)
{
    const std::optional<std::int64_t> count = next_scaling_count(std::vector{curve(0.05, 0.3)}, 16, kMeasured);

    ASSERT_TRUE(count);
    EXPECT_EQ(std::count(kMeasured.begin(), kMeasured.end(), *count), 0);
    EXPECT_GE(*count, 1);
    EXPECT_LE(*count, 16);
}

TEST(NextScalingCount, WhereEveryCountWasMeasuredNothingIsLeft)
{
    const std::vector<std::int64_t> all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    EXPECT_EQ(next_scaling_count(std::vector{curve(0.05, 0.3)}, 16, all), std::nullopt);
}

} // namespace
} // namespace fathom::server
