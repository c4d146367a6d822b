#include "core/decide/measurement/same_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

OperatorResult computed(std::string checksum, std::vector<double> projection)
{
    OperatorResult result;
    result.id = "sgemm";
    result.checksum = std::move(checksum);
    result.projection = std::move(projection);
    return result;
}

TEST(DifferenceOf, EqualChecksumsAreEnough)
{
    EXPECT_EQ(difference_of(computed("ab", {}), computed("ab", {1, 0.5}), 1e-5), "");
}

TEST(DifferenceOf, WhereChecksumsDifferProjectionsDecide)
{
    const OperatorResult right = computed("ab", {12, 0.5, -1.25, 0.01, 2});

    EXPECT_EQ(difference_of(computed("cd", {12.0001, 0.50001, -1.25, 0.01, 2.0001}), right, 1e-5), "");
    EXPECT_THAT(difference_of(computed("cd", {12, 0.501, -1.25, 0.01, 2}), right, 1e-5),
                testing::HasSubstr("checksum cd, right is ab"));
    EXPECT_NE(difference_of(computed("cd", {24, 0.5, -1.25, 0.01, 2}), right, 1e-5), "") << "twice as large";
}

TEST(DifferenceOf, WhatIsMissingIsDifferent)
{
    EXPECT_NE(difference_of(computed("", {}), computed("", {}), 1e-5), "");
    EXPECT_NE(difference_of(computed("cd", {}), computed("ab", {}), 1e-5), "");
    EXPECT_NE(difference_of(computed("cd", {1}), computed("ab", {1, 2}), 1e-5), "");
}

} // namespace
} // namespace fathom
