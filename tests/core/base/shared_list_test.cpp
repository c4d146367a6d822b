#include "core/base/shared_list.hpp"

#include <gmock/gmock.h>

#include <span>
#include <string>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SharedList, IsReadLikeAVector)
{
    const SharedList<std::string> list{"a", "b"};

    EXPECT_THAT(list, ElementsAre("a", "b"));
    EXPECT_EQ(list[1], "b");
    EXPECT_EQ(list.size(), 2U);
    EXPECT_EQ(std::span<const std::string>(list).size(), 2U);
    EXPECT_THAT(SharedList<std::string>(), IsEmpty());
    EXPECT_THAT(SharedList<std::string>(std::vector<std::string>()), IsEmpty());
}

TEST(SharedList, CopiesAreOneUntilOneIsChanged)
{
    SharedList<std::string> list{"a", "b"};
    SharedList<std::string> copy = list;
    EXPECT_EQ(copy.data(), list.data());

    copy.push_back("c");
    copy.own()[0] = "z";

    EXPECT_THAT(list, ElementsAre("a", "b"));
    EXPECT_THAT(copy, ElementsAre("z", "b", "c"));
    const std::string* const before = copy.data();
    copy.own()[1] = "y";
    EXPECT_EQ(copy.data(), before) << "nobody else has it";
}

TEST(SharedList, WhatIsClearedStaysWithItsCopies)
{
    SharedList<int> list{1, 2};
    SharedList<int> copy = list;
    list.clear();
    EXPECT_THAT(list, IsEmpty());
    EXPECT_THAT(copy, ElementsAre(1, 2));

    list.push_back(3);
    EXPECT_THAT(list, ElementsAre(3));
    EXPECT_THAT(copy, ElementsAre(1, 2));
}

} // namespace
} // namespace fathom
