#include "core/base/argument_pointers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom {
namespace {

TEST(ArgumentPointers, EndWithANullPointer)
{
    std::vector<std::string> texts{"program", ""};

    const std::vector<char*> pointers = argument_pointers(texts);

    ASSERT_EQ(pointers.size(), 3U);
    EXPECT_STREQ(pointers[0], "program");
    EXPECT_STREQ(pointers[1], "");
    EXPECT_EQ(pointers[2], nullptr);
}

} // namespace
} // namespace fathom
