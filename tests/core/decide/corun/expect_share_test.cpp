#include "core/decide/corun/expect_share.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// "solve" keeps `share` beside "stream".
PairModel solve_beside_stream(double share)
{
    PairModel pairs;
    EXPECT_TRUE(pairs.add({.a = {"solve", KernelClass::kUnknown},
                           .b = {"stream", KernelClass::kUnknown},
                           .a_share = share,
                           .b_share = 0.8,
                           .count = 4,
                           .a_spread = 0.05}));
    pairs.refit();
    return pairs;
}

TEST(ExpectGpuShare, IsThatBesideThoseWhoAreOnTheGpuThatItWouldGet)
{
    const PairModel pairs = solve_beside_stream(0.6);
    const std::vector<TenantedGpu> gpus{{{{"stream", 300}}, 1}, {{}, 2}};

    const std::optional<ExpectedGpuShare> expected = expect_gpu_share("solve", gpus, pairs);

    ASSERT_TRUE(expected) << "both do more there than alone: 1.4";
    EXPECT_NEAR(expected->share, 0.6, 1e-12);
    EXPECT_NEAR(expected->spread, 0.05, 1e-12);
    EXPECT_EQ(expected->until_s, 300);
    EXPECT_EQ(expected->neighbours, 1);
    EXPECT_EQ(expected->basis, PairSource::kMeasured);
}

TEST(ExpectGpuShare, IsNothingWhereItWouldGetAGpuOfItsOwn)
{
    const PairModel pairs = solve_beside_stream(0.1);
    const std::vector<TenantedGpu> gpus{{{{"stream", 300}}, 1}, {{}, 2}};

    EXPECT_FALSE(expect_gpu_share("solve", gpus, pairs)) << "together they would do less than one alone";
    EXPECT_NEAR(expect_gpu_share("solve", std::vector{gpus[0]}, pairs).value().share, 0.1, 1e-12);
}

TEST(ExpectGpuShare, IsNothingWhereNothingWasMeasured)
{
    const PairModel pairs = solve_beside_stream(0.6);
    const auto beside = [&](const std::string& kind, const std::string& tenant, std::size_t free_parts) {
        return expect_gpu_share(kind, std::vector{TenantedGpu{{{tenant, 300}}, free_parts}}, pairs).has_value();
    };

    EXPECT_TRUE(beside("solve", "stream", 1));
    EXPECT_FALSE(beside("solve", "render", 1));
    EXPECT_FALSE(beside("render", "stream", 1));
    EXPECT_FALSE(beside("", "stream", 1));
    EXPECT_FALSE(beside("solve", "", 1));
    EXPECT_FALSE(beside("solve", "stream", 0)) << "who will be there when a part is free nobody knows";
    EXPECT_FALSE(expect_gpu_share("solve", std::vector{TenantedGpu{{{"stream", 300}}, 1}}, PairModel()));
}

TEST(ExpectGpuShare, IsTheProductBesideSeveralOfWhomSomethingIsKnown)
{
    const PairModel pairs = solve_beside_stream(0.6);
    const std::vector<TenantedGpu> gpus{{{{"stream", 300}, {"stream", 200}, {"render", 900}}, 1}};

    const std::optional<ExpectedGpuShare> expected = expect_gpu_share("solve", gpus, pairs);

    ASSERT_TRUE(expected);
    EXPECT_NEAR(expected->share, 0.36, 1e-12);
    EXPECT_EQ(expected->neighbours, 2);
    EXPECT_EQ(expected->until_s, 300) << "of those that count";
}

TEST(ExpectGpuShare, IsNoMoreThanAllOfItsSpeed)
{
    const PairModel pairs = solve_beside_stream(1.2);

    EXPECT_EQ(expect_gpu_share("solve", std::vector{TenantedGpu{{{"stream", 300}}, 1}}, pairs).value().share, 1);
}

TEST(BesideOnGpu, LastsAsLongAsTheOthersAreThere)
{
    EXPECT_DOUBLE_EQ(beside_on_gpu_s(100, 0.5, 1e9), 200);
    EXPECT_DOUBLE_EQ(beside_on_gpu_s(100, 0.5, 200), 200);
    EXPECT_DOUBLE_EQ(beside_on_gpu_s(100, 0.5, 40), 120) << "20 s of its work are done in these 40";
    EXPECT_DOUBLE_EQ(beside_on_gpu_s(100, 0.5, 0), 100);
    EXPECT_DOUBLE_EQ(beside_on_gpu_s(100, 1, 40), 100);
}

} // namespace
} // namespace fathom
