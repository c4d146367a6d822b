#include "agent/stage/staging_progress.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

namespace fathom::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StagingProgresses, AreToldMoreSeldomTheLongerItTakes)
{
    using std::chrono::seconds;
    std::vector<std::string> told;
    const StagingProgress::Time begin;
    StagingProgress progress({{"", "a", "", std::nullopt}, {"", "b", "", 1}}, begin,
                             [&](const std::string& line) { told.push_back(line); });

    progress.fetched(1'000'000, begin + seconds(9));
    EXPECT_THAT(told, IsEmpty()) << "most inputs are there by then";
    progress.fetched(2'000'000, begin + seconds(10));
    progress.input_complete(5'000'000);
    progress.fetched(1'000'000, begin + seconds(29));
    progress.fetched(2'999'999, begin + seconds(30));
    EXPECT_THAT(told, ElementsAre("0 of 2 inputs are staged, 2 MB in 10 s", "1 of 2 inputs are staged, 7 MB in 30 s"));

    told.clear();
    for (int i = 31; i < 3630; ++i)
        progress.fetched(0, begin + seconds(i));
    EXPECT_EQ(told.size(), 14U) << "after 40, 80 and 160 s, and then every 5 min";
}

TEST(StagingProgresses, AreNotToldOfWhatTakesNoTime)
{
    std::vector<std::string> told;
    const StagingProgress::Time begin;
    StagingProgress progress({{"", "a", "", 1}}, begin, [&](const std::string& line) { told.push_back(line); });

    progress.fetched(1, begin + std::chrono::seconds(1));
    progress.input_complete(1, begin + std::chrono::seconds(1));

    EXPECT_THAT(told, IsEmpty());
}

} // namespace
} // namespace fathom::agent
