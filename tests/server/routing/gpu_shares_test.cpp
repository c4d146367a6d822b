#include "server/routing/gpu_shares.hpp"
#include "server/rows/gpu_kind.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

TEST(GpuTenants, AreOnTheGpusThatTheirUnitsArePartsOf)
{
    std::vector<TenantedGpu> gpus = gpus_of(8, 4);
    ASSERT_EQ(gpus.size(), 2U);

    add_tenant(gpus, {"solve", 10}, {0, 1, 5}, 4);
    add_tenant(gpus, {"stream", 20}, {6}, 4);

    EXPECT_EQ(gpus[0].free_parts, 2U);
    EXPECT_EQ(gpus[1].free_parts, 2U);
    ASSERT_EQ(gpus[0].tenants.size(), 1U) << "once, whatever it has of it";
    ASSERT_EQ(gpus[1].tenants.size(), 2U);
    EXPECT_EQ(gpus[1].tenants[0].kind, "solve");
    EXPECT_EQ(gpus[1].tenants[1].kind, "stream");
    EXPECT_EQ(gpus[1].tenants[1].release_s, 20);
}

TEST(GpuTenants, UnitsThatAreNotThereAnyMoreCountForNobody)
{
    std::vector<TenantedGpu> gpus = gpus_of(9, 4);
    ASSERT_EQ(gpus.size(), 2U) << "what is left beyond full GPUs counts for none";

    add_tenant(gpus, {"solve", 10}, {-1, 8, 400}, 4);
    for (int i = 0; i < 6; ++i)
        add_tenant(gpus, {"stream", 10}, {0}, 4);

    EXPECT_TRUE(gpus[1].tenants.empty());
    EXPECT_EQ(gpus[0].free_parts, 0U);
}

TEST(GpuTenants, NothingIsSaidOfAnybodyWhereNothingIsKnown)
{
    RouteRequest request;
    request.job_type = "solve";
    request.gpu_shares = {{"ut_a", {}}};

    GpuShares().set(request);

    EXPECT_TRUE(request.gpu_shares.empty());
}

TEST(GpuNeeds, OfEarlierRunsAreSaidOfAJobThatSharesAndSaysNothing)
{
    RouteRequest request;
    request.job_type = "solve";
    request.owner = "ann";
    request.project = "p";
    CatalogSnapshot catalog;
    const std::string kind = gpu_kind_of("solve", request.run_owner(), KernelClass::kUnknown);
    catalog.gpu_needs.by_kind = std::make_shared<const std::map<std::string, GpuMemoryRequest>>(
        std::map<std::string, GpuMemoryRequest>{{kind, {7, std::int64_t{1} << 50}}});
    const auto learned_of = [&](RouteRequest asked) {
        GpuShares({}, catalog).set(asked);
        return asked.learned_gpu_memory;
    };

    EXPECT_EQ(learned_of(request).persistent_bytes, 7);
    EXPECT_EQ(learned_of(request).temporary_bytes, std::int64_t{1} << 42) << "no more than a job may ask for";
    RouteRequest other = request;
    other.owner = "bob";
    EXPECT_EQ(learned_of(other).all_bytes(), 0) << "of whom nothing is known";
    RouteRequest saying = request;
    saying.units.gpu_memory = {1, 0};
    EXPECT_EQ(learned_of(saying).all_bytes(), 0);
    RouteRequest alone = request;
    alone.units.sharing = UnitSharing::kExclusive;
    EXPECT_EQ(learned_of(alone).all_bytes(), 0);
}

} // namespace
} // namespace fathom::server
