#include "core/base/last_level_cache.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMiB = 1LL << 20U;

/// A folder that describes caches as /sys does; gone with the test.
class DescribedCaches : public testing::Test {
  protected:
    DescribedCaches() : root_(std::filesystem::temp_directory_path() / ("fathom-caches-" + std::to_string(::getpid())))
    {
        std::filesystem::create_directories(root_);
    }
    ~DescribedCaches() override { std::filesystem::remove_all(root_); }

    struct Description {
        int index{};
        int level{};
        std::string type;
        std::string size;
        std::string shared;
    };

    void describe(std::int64_t cpu, const Description& cache) const
    {
        const std::filesystem::path folder =
            root_ / ("devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(cache.index));
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "level") << cache.level << "\n";
        std::ofstream(folder / "type") << cache.type << "\n";
        std::ofstream(folder / "size") << cache.size << "\n";
        std::ofstream(folder / "shared_cpu_list") << cache.shared << "\n";
    }

    /// A core with its two level-1 caches and its level-2 cache.
    void describe_core(std::int64_t cpu, const std::string& level_2_size = "1024K") const
    {
        const std::string own = std::to_string(cpu);
        describe(cpu, {0, 1, "Data", "32K", own});
        describe(cpu, {1, 1, "Instruction", "64K", own});
        describe(cpu, {2, 2, "Unified", level_2_size, own});
    }

    std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& cpus) const
    {
        return last_level_cache_bytes(read_last_level_caches(root_.string(), cpus), cpus);
    }

    std::filesystem::path root_;
};

TEST_F(DescribedCaches, CountEachLevel3CacheOnce)
{
    for (const std::int64_t cpu : {0, 1, 2, 3, 8, 9}) { // hardware threads 8 and 9 are of the cores of 0 and 1
        describe_core(cpu);
        describe(cpu, {3, 3, "Unified", "32768K", cpu == 2 || cpu == 3 ? "2-3" : "0-1,8-9"});
    }

    EXPECT_EQ(bytes_of({0}), 32 * kMiB);
    EXPECT_EQ(bytes_of({0, 1, 8, 9}), 32 * kMiB);
    EXPECT_EQ(bytes_of({1, 2}), 64 * kMiB);
    EXPECT_EQ(bytes_of({0, 1, 2, 3, 8, 9}), 64 * kMiB);
}

TEST_F(DescribedCaches, AreThoseOfLevel2WhereThereIsNoLevel3)
{
    describe_core(0);
    describe_core(1, "2M");

    EXPECT_EQ(bytes_of({0, 1}), 3 * kMiB);
}

TEST_F(DescribedCaches, AreUnknownWhereAProcessorTellsNone)
{
    describe_core(0);
    describe(1, {0, 1, "Data", "32K", "1"}); // a level-1 cache alone is not what is before memory
    describe(2, {2, 2, "Unified", "none", "2"});

    EXPECT_EQ(bytes_of({0}), kMiB);
    EXPECT_EQ(bytes_of({0, 1}), std::nullopt) << "a sum of what is known would be too small";
    EXPECT_EQ(bytes_of({2}), std::nullopt);
    EXPECT_EQ(bytes_of({7}), std::nullopt);
    EXPECT_EQ(bytes_of({}), std::nullopt);
}

TEST_F(DescribedCaches, AreUnknownWhereTheLastTellsNoSize)
{
    describe_core(0);
    describe(0, {3, 3, "Unified", "", "0-1"});

    EXPECT_EQ(bytes_of({0}), std::nullopt) << "level 2 is not the last one";
    EXPECT_EQ(read_cache_levels(root_.string(), std::vector<std::int64_t>{0}).size(), 2U);
}

TEST_F(DescribedCaches, AreAddedUpByLevel)
{
    for (const std::int64_t cpu : {0, 1}) {
        describe_core(cpu);
        describe(cpu, {3, 3, "Unified", "32768K", "0-1"});
    }
    describe_core(2);
    const auto levels = [this](const std::vector<std::int64_t>& cpus) {
        std::string text;
        for (const auto& [level, sizes] : read_cache_levels(root_.string(), cpus))
            text += "L" + std::to_string(level) + " " + std::to_string(sizes.one_bytes >> 10) + "/" +
                    std::to_string(sizes.all_bytes >> 10) + " ";
        return text;
    };

    EXPECT_EQ(levels({0}), "L1 32/32 L2 1024/1024 L3 32768/32768 ");
    EXPECT_EQ(levels({0, 1}), "L1 32/64 L2 1024/2048 L3 32768/32768 ");
    EXPECT_EQ(levels({1, 2}), "L1 32/64 L2 1024/2048 ") << "one has no level 3";
    EXPECT_EQ(levels({7}), "");
}

TEST(KernelCpuList, IsReadAsFarAsItIsOne)
{
    EXPECT_THAT(read_kernel_cpu_list("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
    EXPECT_THAT(read_kernel_cpu_list("5\n"), ElementsAre(5));
    EXPECT_THAT(read_kernel_cpu_list(""), IsEmpty());
    EXPECT_THAT(read_kernel_cpu_list("x,-1,3-,4-2,7"), ElementsAre(3, 7));
}

} // namespace
} // namespace fathom
