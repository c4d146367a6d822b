#include "core/base/nearest_name.hpp"
#include "core/decide/explanation/refusal.hpp"
#include "core/decide/routing/route_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kGigabyte = 1'000'000'000;

UnitTypeView unit_type(const std::string& center, const std::string& name, std::int64_t unit_count)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center + "_" + name};
    view.name = name;
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.resource_type = name == "gpu" ? "cuda" : "cpu";
    view.operators = {"dgemm", "stream"};
    view.isa = {"avx2", "fma"};
    view.unit_count = unit_count;
    view.availability = Availability(unit_count);
    return view;
}

/// alpha/core of 16 units and beta/big of 4, the latter with more memory and instruction sets; beta/gpu of 2.
std::vector<UnitTypeView> network()
{
    std::vector<UnitTypeView> views{unit_type("alpha", "core", 16), unit_type("beta", "big", 4),
                                    unit_type("beta", "gpu", 2)};
    views[0].memory_bytes_per_unit = 2 * kGigabyte;
    views[1].memory_bytes_per_unit = 8 * kGigabyte;
    views[1].isa = {"avx2", "avx512f", "fma"};
    views[2].operators = {"dgemm", "fft3d"};
    views[2].gpu_memory_bytes = 80 * kGigabyte;
    return views;
}

std::string refusal_of(const RouteRequest& request)
{
    const std::optional<FieldError> refusal = find_unkept_constraint(request, network());
    return refusal ? refusal->field + " " + refusal->detail : "";
}

RouteRequest asking(const std::function<void(RouteRequest&)>& change)
{
    RouteRequest request;
    request.project = "materials";
    change(request);
    return request;
}

TEST(Refusal, AnyPlaceThatIsOnlyClosedIsEnough)
{
    std::vector<UnitTypeView> views = network();
    for (UnitTypeView& view : views)
        view.closed_reason = "the center is drained";

    EXPECT_FALSE(find_unkept_constraint({}, views));
    EXPECT_EQ(find_unkept_constraint({}, {})->detail, "no center offers any units");
}

TEST(Refusal, NamesTheLargestCount)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.units.count = 100; })),
              "units.count no unit type that could run it has 100 units; the largest is alpha/core with 16");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.units.center = "beta";
                  job.units.min = 5;
              })),
              "units.min no unit type that could run it has 5 units; the largest is beta/big with 4");
}

TEST(Refusal, NamesTheLargestMemory)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.units.memory_bytes = 16 * kGigabyte; })),
              "units.memory_bytes no unit has 16 GB of memory; the largest are those of beta/big with 8 GB");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.units.memory_bytes = kGigabyte;
                  job.units.device = "gpu";
              })),
              "units.memory_bytes no unit type says how much memory its units have, so none is known to have 1 GB");
}

TEST(Refusal, OfAJobThatSharesNoDeviceSaysWhatItLacks)
{
    std::vector<UnitTypeView> views = network();
    const RouteRequest request = asking([](RouteRequest& job) {
        job.units.device = "gpu";
        job.units.count = 3;
        job.units.sharing = UnitSharing::kExclusive;
    });
    views[2].unit_count = 3;
    EXPECT_EQ(find_unkept_constraint(request, views), std::nullopt) << "each is a GPU";
    views[2].units_per_device = 2;
    views[2].free_all();
    EXPECT_EQ(find_unkept_constraint(request, views)->detail,
              "no unit type that could run it has 4 units on whole devices, since it shares none; the largest is "
              "beta/gpu with 3");
    EXPECT_EQ(filter_reason(request, views[2], Filter::kUnitCount),
              "has 3 units, the job needs 4 on whole devices, since it shares none");

    views[2].units_per_device = 0;
    EXPECT_EQ(find_unkept_constraint(request, views)->field, "units.sharing");
    EXPECT_EQ(filter_reason(request, views[2], Filter::kDevice),
              "its agent cannot keep a whole device for one job, and the job shares none");
}

TEST(Refusal, NamesTheLargestGpuMemoryWithWhatTheJobNeedsByKind)
{
    EXPECT_EQ(
        refusal_of(asking([](RouteRequest& job) { job.units.gpu_memory = {30 * kGigabyte, 60 * kGigabyte}; })),
        "units.gpu_memory no GPU has 90 GB (30 GB persistent, 60 GB temporary) of memory for a job; the largest are "
        "those of beta/gpu with 80 GB");
    EXPECT_EQ(
        refusal_of(asking([](RouteRequest& job) {
            job.units.gpu_memory = {30 * kGigabyte, 0};
            job.units.center = "alpha";
        })),
        "units.gpu_memory no unit type that could run it has a GPU that is known to have 30 GB (30 GB persistent, "
        "0 B temporary)");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.units.gpu_memory = {20 * kGigabyte, 60 * kGigabyte}; })),
              "");
}

TEST(Refusal, NamesTheLongestThatAJobMayRun)
{
    std::vector<UnitTypeView> views = network();
    const auto refusal = [&](std::int64_t wall_limit_s) {
        return find_unkept_constraint(asking([&](RouteRequest& job) { job.wall_limit_s = wall_limit_s; }), views);
    };
    views[0].max_wall_s = 3600;
    views[1].max_wall_s = 7200;
    EXPECT_FALSE(refusal(86400)) << "beta/gpu lets jobs run as long as they like";
    views[2].max_wall_s = 60;
    EXPECT_FALSE(refusal(7200));
    EXPECT_EQ(refusal(7201)->field, "wall_limit_s");
    EXPECT_EQ(refusal(86400)->detail, "no unit type that could run it lets a job run so long; the longest is beta/big "
                                      "with 2 h: set wall_limit_s to 7200 or less");
}

TEST(Refusal, SaysThatNoCenterHasTheSoftware)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.software.modules = true; })),
              "modules no center that could run it has modules for jobs; `fathom center show` tells what each has (the "
              "fact `software`)");
}

TEST(Refusal, NamesTheNearestInstructionSets)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.units.isa = {"avx512f", "amx_tile"}; })),
              "units.isa no unit type has all of these instruction sets; the nearest is beta/big, which lacks "
              "amx_tile");
}

TEST(Refusal, SaysWhatKindOfDeviceThereIs)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.units.center = "alpha";
                  job.units.device = "gpu";
              })),
              "units.device no unit type that could run it is a GPU; there is cpu");
}

TEST(Refusal, NamesTheNearestSetOfOperators)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  for (const char* id : {"dgemm", "stream", "fft3d"})
                      job.operators.push_back({id, "n=1", 1, 1e6, 1e5});
              })),
              "operators no unit type has all of these operators; the nearest is alpha/core, which lacks fft3d");
}

TEST(Refusal, DataAndUnitsMustMeet)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.sites = {"alpha"};
                  job.units.device = "gpu";
              })),
              "data.sites what could run it is at beta, and its data may only be at alpha");
}

TEST(Refusal, ProjectsAreKeptToTheirCenters)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.project_centers = {"beta"};
                  job.units.center = "alpha";
              })),
              "units.center project materials may only use beta");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.project_centers = {"beta"};
                  job.units.type = "core";
              })),
              "units.type what project materials may use has no unit type core; there are big and gpu");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.units.center = "beta";
                  job.units.type = "core";
              })),
              "units.type center beta has no unit type core; there are big and gpu");
}

TEST(Refusal, NamesTheCentersThatHaveNoLocalUser)
{
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.refused_by = {"ctr_alpha", "ctr_beta"}; })),
              "project alpha and beta said that there is no local user for whose job it is");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) {
                  job.refused_by = {"ctr_beta"};
                  job.units.center = "beta";
              })),
              "units.center beta said that there is no local user for whose job it is");
    EXPECT_EQ(refusal_of(asking([](RouteRequest& job) { job.refused_by = {"ctr_beta"}; })), "");
}

TEST(Refusal, ObstaclesAreBounded)
{
    const RouteRequest request = asking([](RouteRequest& job) { job.units.count = 100; });

    EXPECT_EQ(list_obstacles(request, network(), 2).size(), 2U);
    EXPECT_EQ(list_obstacles(request, network(), 9).back().field, "beta/gpu");
}

TEST(Refusal, UnknownNamesComeAllAtOnceWithWhatWasMeant)
{
    const RouteRequest request = asking([](RouteRequest& job) {
        job.units.center = "aplha";
        job.units.type = "Bigg";
        job.sites = {"alpha", "ctr_beta", "nowhere"};
    });
    std::vector<std::string> found;
    for (const FieldError& error : find_unknown_names(request, network()))
        found.push_back(error.field + " " + error.detail);

    EXPECT_THAT(found, ElementsAre("units.center there is no center aplha; did you mean alpha?",
                                   "units.type there is no unit type Bigg; did you mean big?",
                                   "data.sites[2] there is no center nowhere; there are alpha and beta"));
    EXPECT_THAT(find_unknown_names({}, network()), IsEmpty());
}

TEST(Refusal, OfManyUnknownDataSitesTheFirstAreNamedAndTheOthersCounted)
{
    const RouteRequest request = asking([](RouteRequest& job) {
        job.sites = {"beta"};
        for (int i = 0; i < 999; ++i)
            job.sites.push_back("nowhere" + std::to_string(i));
    });
    const std::vector<FieldError> unknown = find_unknown_names(request, network());

    ASSERT_EQ(unknown.size(), 17U);
    EXPECT_EQ(unknown.front().field, "data.sites[1]");
    EXPECT_EQ(unknown[15].field, "data.sites[16]");
    EXPECT_EQ(unknown.back().field + " " + unknown.back().detail, "data.sites 983 more of these names are unknown");
}

TEST(NearestName, AllowsOneChangeForThreeLetters)
{
    EXPECT_EQ(nearest_name("gamm", {"gamma", "beta"}), "gamma");
    EXPECT_EQ(nearest_name("agmma", {"gamma"}), "gamma") << "swapped letters are one change";
    EXPECT_EQ(nearest_name("GAMMA", {"gamma"}), "gamma");
    EXPECT_EQ(nearest_name("ab", {"ax"}), "") << "two letters say too little";
    EXPECT_EQ(nearest_name("abcdefghi", {"abcdexxxi"}), "") << "never more than two changes";
    EXPECT_EQ(nearest_name("core", {"cores", "core2", "corn"}), "core2") << "the first of the nearest";
    EXPECT_EQ(nearest_name("", {"core"}), "");
}

TEST(NearestName, ListsAreShort)
{
    EXPECT_EQ(short_list({"a"}), "a");
    EXPECT_EQ(short_list({"a", "b"}), "a and b");
    EXPECT_EQ(short_list({"a", "b", "c"}), "a, b and c");
    EXPECT_EQ(short_list({"a", "b", "c", "d"}, 2), "a, b and 2 more");
    EXPECT_EQ(name_hint("x", {}), "");
}

} // namespace
} // namespace fathom
