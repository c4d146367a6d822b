#include "server/routing/in_use/gpu_shares.hpp"
#include "server/rows/gpu_kind.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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
        GpuShares({}, {}, catalog).set(asked);
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

/// Jobs of type "solve" of this submitter keep half of their speed beside each other.
CatalogSnapshot with_pair_of(const std::string& kind)
{
    PairModel pairs;
    EXPECT_TRUE(pairs.add(
        {.a = {kind, KernelClass::kUnknown}, .b = {kind, KernelClass::kUnknown}, .a_share = 0.5, .b_share = 0.5}));
    pairs.refit();
    CatalogSnapshot catalog;
    catalog.gpu_pairs.model = std::make_shared<const PairModel>(std::move(pairs));
    return catalog;
}

TEST(GpuPairsOfACycle, AreThoseOfItsJobsAndOfWhoHasPartsOfGpus)
{
    ReadyJob job;
    job.request.job_type = "solve";
    job.request.owner = "ann";
    job.request.project = "p";
    const std::string kind = gpu_kind_of("solve", job.request.run_owner(), KernelClass::kUnknown);
    const CatalogSnapshot catalog = with_pair_of(kind);
    GpuShares shares(GpusInUse{{"ut_a", {{{{kind, 60}, {"type:unheard", 60}}, 2}}}}, {}, catalog);
    EXPECT_EQ(shares.pairs_among(std::vector{job}, shares.gpus()), nullptr) << "of none of its jobs a pair is known";

    shares.set(job.request);

    EXPECT_EQ(job.request.gpu_kind, kind);
    EXPECT_NEAR(job.request.gpu_shares.at("ut_a").share, 0.5, 1e-12);
    const std::shared_ptr<const PairTable> table = shares.pairs_among(std::vector{job}, shares.gpus());
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->kinds, std::vector{kind});
    ASSERT_EQ(shares.gpus().size(), 1U);
    EXPECT_EQ(shares.gpus()[0].unit_type_id.value, "ut_a");
}

TEST(GpuTenants, WhoWasPlacedAndHasNotStartedIsWhereItsCenterIsExpectedToPutIt)
{
    RouteRequest request;
    request.job_type = "solve";
    const std::string kind = gpu_kind_of("solve", request.run_owner(), KernelClass::kUnknown);
    CatalogSnapshot catalog = with_pair_of(kind);
    UnitTypeView view;
    view.id = {"ut_a"};
    view.unit_count = view.units_per_device = 4;
    catalog.unit_types = {view};

    GpuShares shares({}, {{"ut_a", {{{kind, 60}, 1, false}}}, {"ut_gone", {{{kind, 60}, 1, false}}}}, catalog);
    shares.set(request);

    EXPECT_NEAR(request.gpu_shares.at("ut_a").share, 0.5, 1e-12);
    EXPECT_EQ(request.gpu_shares.at("ut_a").until_s, 60);
    ASSERT_EQ(shares.gpus().size(), 1U);
    EXPECT_EQ(shares.gpus()[0].gpus[0].free_parts, 3U);

    const GpuShares alone({}, {{"ut_a", {{{kind, 60}, 4, true}}}}, catalog);
    EXPECT_EQ(alone.gpus()[0].gpus[0].free_parts, 0U);
}

TEST(GpuPairsOfACycle, AJobIsKnownAlsoWhereNobodyHasAPartOfAGpuYet)
{
    RouteRequest request;
    request.job_type = "solve";
    request.gpu_kind = "of before";
    const std::string kind = gpu_kind_of("solve", request.run_owner(), KernelClass::kUnknown);

    GpuShares({}, {}, with_pair_of(kind)).set(request);
    EXPECT_EQ(request.gpu_kind, kind);

    request.units.sharing = UnitSharing::kExclusive;
    GpuShares({}, {}, with_pair_of(kind)).set(request);
    EXPECT_EQ(request.gpu_kind, "");
}

} // namespace
} // namespace fathom::server
