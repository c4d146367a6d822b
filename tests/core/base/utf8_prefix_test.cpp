#include "core/base/utf8_prefix.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Utf8Prefix, EndsWhereACharacterEnds)
{
    EXPECT_EQ(utf8_prefix("abc", 5), "abc");
    EXPECT_EQ(utf8_prefix("abc", 2), "ab");
    EXPECT_EQ(utf8_prefix("计算", 6), "计算");
    EXPECT_EQ(utf8_prefix("计算", 5), "计");
    EXPECT_EQ(utf8_prefix("计算", 4), "计");
    EXPECT_EQ(utf8_prefix("计算", 2), "");
}

} // namespace
} // namespace fathom
