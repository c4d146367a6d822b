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

TEST(ExactChecksum, SeesEveryBitAndTheSize)
{
    std::vector<std::byte> bytes(100, std::byte{7});
    const std::string right = exact_checksum(bytes);

    EXPECT_EQ(right.size(), 16U);
    for (const std::size_t i : {0U, 50U, 99U}) {
        bytes[i] ^= std::byte{1};
        EXPECT_NE(exact_checksum(bytes), right) << i;
        bytes[i] ^= std::byte{1};
    }
    EXPECT_EQ(exact_checksum(bytes), right);
    bytes.push_back(std::byte{0});
    EXPECT_NE(exact_checksum(bytes), right);
}

} // namespace
} // namespace fathom::probes
