#include "core/decide/corun/pair_model.hpp"
#include "core/decide/corun/pair_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

PairModel pairs_of_three()
{
    PairModel pairs;
    EXPECT_TRUE(pairs.add({.a = {"solve", KernelClass::kUnknown},
                           .b = {"stream", KernelClass::kUnknown},
                           .a_share = 0.6,
                           .b_share = 0.8,
                           .count = 4,
                           .a_spread = 0.05}));
    EXPECT_TRUE(pairs.add({.a = {"render", KernelClass::kUnknown},
                           .b = {"stream", KernelClass::kUnknown},
                           .a_share = 0.5,
                           .b_share = 0.7}));
    pairs.refit();
    return pairs;
}

TEST(PairTable, SaysWhatTheHistorySaysOfItsKinds)
{
    const PairModel pairs = pairs_of_three();
    const PairTable table({"stream", "solve", "unheard of"}, pairs);

    EXPECT_EQ(table.kinds, (std::vector<std::string>{"solve", "stream"}));
    for (const std::string& kind : table.kinds) {
        for (const std::string& beside : table.kinds)
            EXPECT_EQ(table.expect({kind}, {beside}), pairs.expect({kind}, {beside})) << kind << " beside " << beside;
    }
    EXPECT_TRUE(table.knows("solve"));
    EXPECT_TRUE(table.is_whole());
}

TEST(PairTable, SaysNothingOfOthers)
{
    const PairTable table({"solve", "stream"}, pairs_of_three());

    EXPECT_FALSE(table.knows("render"));
    EXPECT_FALSE(table.knows(""));
    EXPECT_EQ(table.expect({"solve"}, {"render"}).source, PairSource::kDefault);
    EXPECT_FALSE(PairTable().knows("solve"));
    EXPECT_TRUE(PairTable().is_whole());
}

TEST(PairTable, IsNotWholeWhereAFigureIsMissingOrAKindOutOfOrder)
{
    PairTable table({"solve", "stream"}, pairs_of_three());
    table.shares.pop_back();
    EXPECT_FALSE(table.is_whole());
    table = PairTable({"solve", "stream"}, pairs_of_three());
    table.shares.front().share = 0;
    EXPECT_FALSE(table.is_whole());
    table = PairTable({"solve", "stream"}, pairs_of_three());
    std::swap(table.kinds.front(), table.kinds.back());
    EXPECT_FALSE(table.is_whole());
}

} // namespace
} // namespace fathom
