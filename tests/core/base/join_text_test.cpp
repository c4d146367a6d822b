#include "core/base/join_text.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(JoinText, PutsCommasBetweenTheParts)
{
    EXPECT_EQ(join_text({}), "");
    EXPECT_EQ(join_text({"one"}), "one");
    EXPECT_EQ(join_text({"one", "two", "three"}), "one, two, three");
}

} // namespace
} // namespace fathom
