#include "core/schedule/byte_archive.hpp"
#include "core/schedule/cycle_replay.hpp"
#include "tests/core_schedule/random_cycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

/// Cycles of random networks with the plans that were made of them, in tests/data/cycles: what only makes decisions
/// faster must leave all of these as they are, bit for bit. Who means to change decisions records them anew:
///
///     core_schedule_test --gtest_also_run_disabled_tests --gtest_filter=RecordedCycles.DISABLED_Record
namespace fathom {
namespace {

using testing::IsEmpty;

const std::filesystem::path kFolder = std::filesystem::path(FATHOM_TEST_DATA) / "cycles";

struct Recorded {
    std::string cycle;
    std::string plan;
    std::vector<std::string> parts;
};

template <class Archive, FieldsOf<Recorded> T>
void fields(Archive& archive, T& recorded)
{
    archive.text(recorded.cycle);
    archive.text(recorded.plan);
    text_fields(archive, recorded.parts);
}

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
        Recorded recorded;
        fields(reader, recorded);
        ASSERT_TRUE(reader.finish(file.string()).has_value());

        const Result<CycleReplay> replay = replay_cycle(recorded.cycle, recorded.parts, recorded.plan);

        ASSERT_TRUE(replay.has_value()) << file << ": " << describe(replay.error());
        EXPECT_THAT(replay->differences, IsEmpty()) << file;
        jobs += replay->moment.input.jobs.size();
    }
    EXPECT_GT(jobs, 100U);
}

TEST(RecordedCycles, DISABLED_Record)
{
    std::filesystem::create_directories(kFolder);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        // Of more than 64 unit types most are never looked at closely.
        const test::RandomCycle cycle = test::CycleMaker(500 + seed).make(seed % 5 == 4 ? 80 : 0);
        Recorded recorded;
        recorded.cycle = write_cycle(cycle.moment);
        recorded.plan = write_plan(record_of(decide_cycle(cycle.moment, cycle.catalog)));
        write_catalog(cycle.catalog.unit_types, cycle.catalog.knowledge,
                      [&](std::string part) { recorded.parts.push_back(std::move(part)); });
        ByteWriter writer;
        fields(writer, recorded);
        std::ofstream file(kFolder / (std::to_string(seed) + ".cycle"), std::ios::binary);
        file << writer.take();
        ASSERT_TRUE(file.flush().good());
    }
}

} // namespace
} // namespace fathom
