#include "probes/operators/thread_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace fathom::probes {
namespace {

class ThreadTeams : public testing::TestWithParam<int> {};

TEST_P(ThreadTeams, VisitEveryIndexOnce)
{
    ThreadTeam team(GetParam());
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 1000U}) {
        std::vector<int> visits(size);

        team.for_parts(size, [&](Part part) {
            for (std::size_t i = part.begin; i < part.end; ++i)
                ++visits[i];
        });

        EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), 0), static_cast<int>(size));
        EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(size));
    }
}

TEST_P(ThreadTeams, FinishOneRoundBeforeTheNext)
{
    ThreadTeam team(GetParam());
    std::vector<long> values(64);

    for (int round = 0; round < 2000; ++round) {
        team.for_parts(values.size(), [&](Part part) {
            for (std::size_t i = part.begin; i < part.end; ++i)
                ++values[i];
        });
    }

    EXPECT_EQ(values, std::vector<long>(64, 2000));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadTeams, testing::Values(1, 2, 5));

} // namespace
} // namespace fathom::probes
