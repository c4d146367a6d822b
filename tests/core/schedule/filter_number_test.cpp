#include "core/schedule/filter_number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace fathom {
namespace {

TEST(FilterNumber, StaysTheSameInDocuments)
{
    EXPECT_EQ(written_number(Filter::kPolicy), 0);
    EXPECT_EQ(written_number(Filter::kDataSite), 5);
    EXPECT_EQ(written_number(Filter::kQuota), 6);
    EXPECT_EQ(written_number(Filter::kHealth), 8);
    EXPECT_EQ(written_number(Filter::kDeadline), 9);
    EXPECT_EQ(written_number(Filter::kBudget), 10);
    EXPECT_EQ(written_number(Filter::kWallLimit), 11);
    EXPECT_EQ(written_number(Filter::kSpeedup), 12);
    EXPECT_EQ(written_number(Filter::kSoftware), 13);
    for (std::uint8_t number = 0; number < kFilterCount; ++number)
        EXPECT_EQ(written_number(written_filter(number)), number);
}

} // namespace
} // namespace fathom
