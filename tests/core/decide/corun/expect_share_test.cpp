#include "core/decide/corun/expect_share.hpp"
#include "core/decide/corun/pair_model.hpp"

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

TEST(PlaceTenant, TakesThePartsThatItsCenterWouldGive)
{
    const PairModel pairs = solve_beside_stream(0.6);
    std::vector<TenantedGpu> gpus = gpus_of(9, 4);
    ASSERT_EQ(gpus.size(), 2U) << "what is left beyond full GPUs counts for none";
    gpus[1] = {{{"stream", 300}}, 3};

    place_tenant(gpus, {"solve", 100}, 1, pairs);

    EXPECT_TRUE(gpus[0].tenants.empty());
    EXPECT_EQ(gpus[1], (TenantedGpu{{{"stream", 300}, {"solve", 100}}, 2})) << "both do more there than alone";

    place_tenant(gpus, {"solve", 50}, 4, pairs);

    EXPECT_EQ(gpus[1].free_parts, 0U) << "the other of its kind counts neither for nor against";
    EXPECT_EQ(gpus[0], (TenantedGpu{{{"solve", 50}}, 2}));
}

TEST(PlaceTenant, OfGpusThatAreAlikeTheFirstIsTaken)
{
    const PairModel pairs = solve_beside_stream(0.6);
    std::vector<TenantedGpu> gpus{{{}, 2}, {{{"stream", 300}}, 1}, {{{"stream", 900}}, 1}, {{{"stream", 100}}, 1}};

    EXPECT_EQ(expect_gpu_share("solve", gpus, pairs).value().until_s, 300);
    for (int i = 0; i < 4; ++i)
        place_tenant(gpus, {"solve", 100}, 1, pairs);

    EXPECT_EQ(gpus[1].free_parts + gpus[2].free_parts + gpus[3].free_parts, 0U);
    EXPECT_EQ(gpus[0], (TenantedGpu{{{"solve", 100}}, 1}));
}

TEST(PlaceTenant, IsApartFromWhomItWouldHurtWhereAGpuIsFree)
{
    const PairModel pairs = solve_beside_stream(0.1);
    std::vector<TenantedGpu> gpus{{{{"stream", 300}}, 1}, {{}, 2}};

    place_tenant(gpus, {"solve", 100}, 1, pairs);

    EXPECT_EQ(gpus[1], (TenantedGpu{{{"solve", 100}}, 1}));
}

TEST(PlaceTenant, WhatIsNotFreeIsGivenToNobody)
{
    std::vector<TenantedGpu> gpus{{{}, 1}};

    place_tenant(gpus, {"solve", 100}, 3, PairModel());
    place_tenant(gpus, {"solve", 100}, 1, PairModel());

    EXPECT_EQ(gpus[0], (TenantedGpu{{{"solve", 100}}, 0}));
}

TEST(PlaceTenant, WhoSharesNoneGetsGpusOfWhichNobodyHasAPart)
{
    std::vector<TenantedGpu> gpus{{{{"stream", 300}}, 3}, {{}, 4}, {{}, 4}, {{}, 4}};

    place_alone(gpus, {"solve", 100}, 8);

    EXPECT_EQ(gpus[0].free_parts, 3U);
    EXPECT_EQ(gpus[1].free_parts, 0U);
    EXPECT_EQ(gpus[2].free_parts, 0U);
    EXPECT_EQ(gpus[3].free_parts, 4U);
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
