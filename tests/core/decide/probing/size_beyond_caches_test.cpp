#include "core/decide/measurement/cache_rule.hpp"
#include "core/decide/probing/draw_size.hpp"
#include "core/decide/probing/size_beyond_caches.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::int64_t kMiB = 1LL << 20U;
constexpr std::int64_t kGiB = 1LL << 30U;

/// As stream_triad is: three arrays of 8 bytes an element, drawn at most 3 % away.
OperatorManifest memory_operator()
{
    OperatorManifest manifest;
    manifest.id = "triad";
    manifest.parameters = {{.name = "n",
                            .min = 1000,
                            .max = 4'000'000'000,
                            .default_value = 20'000'000,
                            .description = {},
                            .draw_share = 0.03,
                            .draw_step = 8}};
    manifest.cache_rule = CacheRule{.array_bytes = "8*n",
                                    .memory_bytes = "24*n",
                                    .least_multiple = 4,
                                    .larger_sizes = {{{"n", 75'000'000}}, {{"n", 280'000'000}}}};
    return manifest;
}

std::int64_t chosen(std::optional<std::int64_t> last_level_caches_bytes, std::int64_t memory_bytes)
{
    return size_beyond_caches(memory_operator(),
                              {.last_level_caches_bytes = last_level_caches_bytes, .memory_bytes = memory_bytes})
        .at("n");
}

TEST(SizeBeyondCaches, IsTheDefaultWhereItIsLargeEnough)
{
    EXPECT_EQ(chosen(32 * kMiB, 64 * kGiB), 20'000'000);
    EXPECT_EQ(chosen(std::nullopt, 64 * kGiB), 20'000'000) << "nothing says that it is too small";
    OperatorManifest without_rule = memory_operator();
    without_rule.cache_rule.reset();
    EXPECT_EQ(size_beyond_caches(without_rule, {.last_level_caches_bytes = kGiB, .memory_bytes = 64 * kGiB}).at("n"),
              20'000'000);
}

TEST(SizeBeyondCaches, GrowsWithTheCaches)
{
    EXPECT_EQ(chosen(105 * kMiB, 64 * kGiB), 75'000'000);
    EXPECT_EQ(chosen(2 * 256 * kMiB, 64 * kGiB), 280'000'000) << "two sockets of 256 MiB each";
    EXPECT_EQ(chosen(2048 * kMiB, 64 * kGiB), 20'000'000) << "no size is large enough";
}

TEST(SizeBeyondCaches, TakesAtMostHalfOfTheMemory)
{
    EXPECT_EQ(chosen(105 * kMiB, 3'600'000'000), 75'000'000); // 3 · 8 · 75e6 bytes
    EXPECT_EQ(chosen(105 * kMiB, 3'599'999'999), 20'000'000);
    EXPECT_EQ(chosen(105 * kMiB, 0), 20'000'000) << "a memory that is not known is no bound to keep";
}

TEST(SizeBeyondCaches, KeepsTheRuleHoweverItIsDrawn)
{
    constexpr std::int64_t kCaches = 138 * kMiB; // 75e6 elements have 4.15 times that, 3 % fewer 4.02 times
    const OperatorManifest manifest = memory_operator();
    const Parameters size =
        size_beyond_caches(manifest, {.last_level_caches_bytes = kCaches, .memory_bytes = 64 * kGiB});

    ASSERT_EQ(size.at("n"), 75'000'000);
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        EXPECT_EQ(check_cache_rule(manifest, draw_size(manifest, size, seed), kCaches), "") << seed;
    EXPECT_EQ(chosen(140 * kMiB, 64 * kGiB), 280'000'000) << "75e6 would do, but not when drawn smaller";
}

} // namespace
} // namespace fathom
