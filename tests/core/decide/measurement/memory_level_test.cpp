#include "core/decide/measurement/memory_level.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::int64_t kKiB = 1LL << 10U;
constexpr std::int64_t kMebibyte = 1LL << 20U;

/// As random_access is: lines of 64 bytes, 4096 of them a walk.
OperatorManifest pointer_chase()
{
    OperatorManifest manifest;
    manifest.working_set = WorkingSet{.bytes = "64*n", .parts = "max(n/4096, 1)"};
    return manifest;
}

/// Of processors with 32 KiB of L1 and 1 MiB of L2 each, and one L3 of 32 MiB.
ProbeResult result_of(std::int64_t cores)
{
    const auto sizes = [](std::int64_t one, std::int64_t all) { return Json{{"one_bytes", one}, {"all_bytes", all}}; };
    ProbeResult result;
    result.cores = cores;
    result.host["caches"] = {{"L1", sizes(32 * kKiB, cores * 32 * kKiB)},
                             {"L2", sizes(kMebibyte, cores * kMebibyte)},
                             {"L3", sizes(32 * kMebibyte, 32 * kMebibyte)}};
    return result;
}

std::string level_of(std::int64_t working_set_bytes, const ProbeResult& result)
{
    return memory_level(pointer_chase(), {{"n", working_set_bytes / 64}}, result);
}

TEST(MemoryLevel, IsTheFirstThatHoldsTheWorkingSet)
{
    const ProbeResult result = result_of(1);

    EXPECT_EQ(level_of(32 * kKiB, result), "L1");
    EXPECT_EQ(level_of(32 * kKiB + 64, result), "L2");
    EXPECT_EQ(level_of(8 * kMebibyte, result), "L3");
    EXPECT_EQ(level_of(32 * kMebibyte + 64, result), "L3 and memory");
    EXPECT_EQ(level_of(4 * 32 * kMebibyte - 64, result), "L3 and memory");
    EXPECT_EQ(level_of(4 * 32 * kMebibyte, result), "memory");
}

TEST(MemoryLevel, CountsTheCachesOfTheProcessorsThatGoThroughIt)
{
    EXPECT_EQ(level_of(8 * kMebibyte, result_of(8)), "L2") << "1 MiB each";
    EXPECT_EQ(level_of(8 * kMebibyte + 64, result_of(8)), "L3");
    EXPECT_EQ(level_of(512 * kKiB, result_of(64)), "L2") << "two walks: two of the 64 have 256 KiB each";
    EXPECT_EQ(level_of(32 * kKiB, result_of(64)), "L1");
}

TEST(MemoryLevel, IsThatOfTheLevelsThatAreKnown)
{
    ProbeResult result = result_of(1);
    result.host["caches"].erase("L3");

    EXPECT_EQ(level_of(2 * kMebibyte, result), "L2 and memory");
    EXPECT_EQ(level_of(4 * kMebibyte, result), "memory");
}

TEST(MemoryLevel, IsNotGuessed)
{
    ProbeResult result = result_of(1);
    EXPECT_EQ(memory_level(OperatorManifest(), {}, result), "") << "the manifest tells no working set";
    result.host["gpu"] = {{"name", "a GPU"}};
    EXPECT_EQ(level_of(kMebibyte, result), "");
    result.host = Json::object();
    EXPECT_EQ(level_of(kMebibyte, result), "");
    for (const char* caches : {"7", "{\"L1\": 32768}", "{\"L1\": {\"one_bytes\": \"much\"}}", "null"}) {
        result.host["caches"] = Json::parse(caches);
        EXPECT_EQ(level_of(kMebibyte, result), "") << caches;
    }
}

} // namespace
} // namespace fathom
