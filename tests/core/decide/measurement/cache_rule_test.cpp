#include "core/decide/measurement/cache_rule.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = 1LL << 20U;

/// Arrays of 8 bytes an element, at least four times the caches.
OperatorManifest ruled()
{
    OperatorManifest manifest;
    manifest.id = "triad";
    manifest.cache_rule =
        CacheRule{.array_bytes = "8*n", .memory_bytes = "24*n", .least_multiple = 4, .larger_sizes = {}};
    return manifest;
}

TEST(CheckCacheRule, WantsArraysOfFourTimesTheLastLevelCaches)
{
    const Parameters enough{{"n", 4 * 32 * kMiB / 8}};
    const Parameters too_small{{"n", 4 * 32 * kMiB / 8 - 1}};

    EXPECT_EQ(check_cache_rule(ruled(), enough, 32 * kMiB), "");
    EXPECT_THAT(check_cache_rule(ruled(), too_small, 32 * kMiB), HasSubstr("not of memory"));
    EXPECT_EQ(check_cache_rule(ruled(), {{"n", 20'000'000}}, 512 * kMiB),
              "a rate of the caches, not of memory: an array has 153 MiB, the last-level caches 512 MiB, and arrays "
              "must have 4 times that");
}

TEST(CheckCacheRule, SaysNothingWithoutARuleOrWithoutTheCaches)
{
    EXPECT_EQ(check_cache_rule(OperatorManifest(), {{"n", 1}}, 32 * kMiB), "");
    EXPECT_EQ(check_cache_rule(ruled(), {{"n", 1}}, std::nullopt), "");
}

TEST(MeasuredCaches, AreThoseOfTheProcessorsAndOnlyNumbersCount)
{
    ProbeResult result;
    result.host = {{"last_level_cache_bytes", 32 * kMiB}};
    EXPECT_EQ(measured_caches(result), 32 * kMiB);
    result.host["gpu"] = {{"name", "a GPU"}};
    EXPECT_EQ(measured_caches(result), std::nullopt) << "its arrays are not in the processors' caches";

    const std::vector<Json> others{Json{{"absent", "hidden"}}, 0, -1, 1e300, "32 MiB", Json(), 1LL << 50U};
    for (const Json& other : others)
        EXPECT_EQ(last_level_cache_fact({{"last_level_cache_bytes", other}}), std::nullopt) << other;
    EXPECT_EQ(last_level_cache_fact(Json::object()), std::nullopt);
    EXPECT_EQ(last_level_cache_fact(Json()), std::nullopt);
}

} // namespace
} // namespace fathom
