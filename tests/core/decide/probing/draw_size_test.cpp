#include "core/decide/probing/draw_size.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace fathom {
namespace {

OperatorManifest product()
{
    OperatorManifest manifest;
    manifest.id = "dgemm";
    manifest.parameters = {{.name = "m",
                            .min = 1,
                            .max = 2000,
                            .default_value = 512,
                            .description = {},
                            .draw_share = 0.05,
                            .draw_step = 8},
                           {.name = "n", .min = 1, .max = 2000, .default_value = 512, .description = {}}};
    return manifest;
}

RC_GTEST_PROP(DrawSize, StaysNearTheAskedSizeAndWithinTheRange, ())
{
    const OperatorManifest manifest = product();
    const Parameters asked{{"m", *rc::gen::inRange<std::int64_t>(1, 2001)}, {"n", 512}};
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Parameters drawn = draw_size(manifest, asked, seed);
    RC_ASSERT(drawn == draw_size(manifest, asked, seed));
    RC_ASSERT(drawn.at("n") == 512);
    const std::int64_t moved = drawn.at("m") - asked.at("m");
    RC_ASSERT(moved % 8 == 0);
    RC_ASSERT(std::abs(static_cast<double>(moved)) <= 0.05 * static_cast<double>(asked.at("m")));
    RC_ASSERT(drawn.at("m") >= 1 && drawn.at("m") <= 2000);
}

TEST(DrawSize, SeedsGiveDifferentSizes)
{
    std::set<std::int64_t> seen;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        seen.insert(draw_size(product(), {{"m", 512}, {"n", 512}}, seed).at("m"));
    EXPECT_EQ(seen.size(), 7U); // 488, 496, … 536
}

} // namespace
} // namespace fathom
