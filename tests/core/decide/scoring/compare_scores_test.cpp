#include "core/decide/scoring/compare_scores.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(RankScores, TheHighestIsFirstAndEqualOnesShareARank)
{
    std::vector<ComparedScore> scores{{.before = 5, .after = 1, .missing_before = "", .missing_after = ""},
                                      {.before = 7, .after = 3, .missing_before = "", .missing_after = ""},
                                      {.before = 5, .after = {}, .missing_before = "", .missing_after = "not measured"},
                                      {.before = 1, .after = 2, .missing_before = "", .missing_after = ""}};
    std::vector<ComparedScore*> all;
    for (ComparedScore& one : scores)
        all.push_back(&one);

    rank_scores(all);

    EXPECT_EQ(scores[0].rank_before, 2);
    EXPECT_EQ(scores[1].rank_before, 1);
    EXPECT_EQ(scores[2].rank_before, 2);
    EXPECT_EQ(scores[3].rank_before, 4);
    EXPECT_EQ(scores[0].rank_after, 3);
    EXPECT_EQ(scores[1].rank_after, 1);
    EXPECT_EQ(scores[2].rank_after, std::nullopt);
    EXPECT_EQ(scores[3].rank_after, 2);
}

TEST(RankScores, NothingToRankIsFine)
{
    EXPECT_NO_THROW(rank_scores({}));
}

} // namespace
} // namespace fathom
