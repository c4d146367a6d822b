#include "core/schedule/cycle_replay.hpp"
#include "tests/core/schedule/recorded_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

/// Cycles of random networks with the plans that were made of them, in tests/data/cycles: what only makes decisions
/// faster must leave all of these as they are, bit for bit. Who means to change decisions records them anew with the
/// program `record_cycles`.
namespace fathom {
namespace {

using testing::IsEmpty;

const std::filesystem::path kFolder = std::filesystem::path(FATHOM_TEST_DATA) / "cycles";

std::vector<std::filesystem::path> files()
{
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder))
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

TEST(RecordedCycles, ComeOutAgain)
{
    std::size_t jobs = 0;
    for (const std::filesystem::path& file : files()) {
        std::ifstream stream(file, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        ByteReader reader(bytes);
        test::RecordedCycle recorded;
        fields(reader, recorded);
        ASSERT_TRUE(reader.finish(file.string()).has_value());

        const Result<CycleReplay> replay = replay_cycle(recorded.cycle, recorded.parts, recorded.plan);

        ASSERT_TRUE(replay.has_value()) << file << ": " << describe(replay.error());
        EXPECT_THAT(replay->differences, IsEmpty()) << file;
        for (const ReadyJob& job : replay->moment.input.jobs)
            EXPECT_FALSE(job.request.follows_gpu_threshold) << file << ": it was only told then";
        jobs += replay->moment.input.jobs.size();
    }
    EXPECT_GT(jobs, 100U);
}

} // namespace
} // namespace fathom
