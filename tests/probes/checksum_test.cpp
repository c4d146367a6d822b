#include "probes/operators/checksum.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace fathom::probes {
namespace {

std::string checksum_of(const std::vector<double>& values)
{
    return rounded_checksum(values, 1.0);
}

TEST(RoundedChecksum, IsTheSameForTheSameValues)
{
    EXPECT_EQ(checksum_of({0.25, -3, 1e6}), checksum_of({0.25, -3, 1e6}));
    EXPECT_EQ(checksum_of({0.25, -3, 1e6}).size(), 16U);
}

TEST(RoundedChecksum, IgnoresRoundingErrors)
{
    EXPECT_EQ(checksum_of({0.3, -3.1}), checksum_of({0.3 + 1e-13, -3.1 - 1e-13}));
}

TEST(RoundedChecksum, SeesADifferenceThatMattersAnOrderAndALength)
{
    const std::string of_two = checksum_of({0.3, 2});

    EXPECT_NE(of_two, checksum_of({0.301, 2}));
    EXPECT_NE(of_two, checksum_of({2, 0.3}));
    EXPECT_NE(of_two, checksum_of({0.3}));
    EXPECT_NE(of_two, checksum_of({0.3, 2, 0}));
}

TEST(RoundedChecksum, SeesValuesThatAreHugeOrNotNumbers)
{
    const std::string normal = checksum_of({0.3});

    EXPECT_NE(normal, checksum_of({1e300}));
    EXPECT_NE(normal, checksum_of({std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_NE(normal, checksum_of({std::numeric_limits<double>::infinity()}));
}

TEST(RoundedChecksum, RoundsSinglePrecisionMoreCoarsely)
{
    EXPECT_EQ(rounded_checksum(std::vector<float>{0.3F}, 1), rounded_checksum(std::vector<float>{0.3001F}, 1));
    EXPECT_NE(rounded_checksum(std::vector<float>{0.3F}, 1), rounded_checksum(std::vector<float>{0.4F}, 1));
}

} // namespace
} // namespace fathom::probes
