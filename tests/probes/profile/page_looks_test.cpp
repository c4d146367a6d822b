#include "probes/profile/page_looks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::profile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

TEST(ChooseTurn, TakesAllProcessesWhenTheyAreSmallTogether)
{
    const Turn turn = choose_turn({100, 200, 300}, 0, 600);

    EXPECT_THAT(turn.chosen, ElementsAre(0, 1, 2));
    EXPECT_FALSE(turn.any_too_large);
}

TEST(ChooseTurn, LetsProcessesTakeTurns)
{
    const std::vector<std::uint64_t> resident{400, 400, 400};

    const Turn first = choose_turn(resident, 0, 900);
    const Turn second = choose_turn(resident, first.next, 900);

    EXPECT_THAT(first.chosen, ElementsAre(0, 1));
    EXPECT_THAT(second.chosen, ElementsAre(2, 0));
}

TEST(ChooseTurn, NeverTakesAProcessThatIsTooLargeAlone)
{
    const Turn turn = choose_turn({1000, 10, 0}, 0, 900);

    EXPECT_THAT(turn.chosen, ElementsAre(1));
    EXPECT_TRUE(turn.any_too_large);
    EXPECT_THAT(choose_turn({}, 5, 900).chosen, IsEmpty());
}

TEST(LookBudget, MakesFewLooksAtLargeProgramsAndManyAtSmallOnes)
{
    // Each look costs what walks through page tables do at 100 ns a page.
    const auto looks_in_a_minute = [](std::uint64_t bytes, double& spent_s) {
        LookBudget budget;
        int looks = 0;
        for (double now_s = 0; now_s < 60; now_s += 0.01) {
            if (!budget.is_due(now_s) || !budget.affords(now_s, bytes)) continue;
            const double look_s = 100e-9 * static_cast<double>(bytes) / 4096;
            budget.spend(look_s, bytes);
            spent_s += look_s;
            ++looks;
        }
        return looks;
    };
    double small_s = 0;
    double large_s = 0;

    EXPECT_GT(looks_in_a_minute(kGiB / 64, small_s), 50); // one a second in the end
    EXPECT_LT(looks_in_a_minute(2 * kGiB, large_s), 11);
    EXPECT_LE(large_s, 0.08 + 0.007 * 60);
}

TEST(LookBudget, DoesNotMakeAFirstLookThatCouldBeTooLong)
{
    LookBudget budget;

    EXPECT_FALSE(budget.affords(0.2, 2 * kGiB));
    EXPECT_TRUE(budget.affords(0.4, kGiB));
}

} // namespace
} // namespace fathom::profile
