#include "core/decide/measurement/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Four cores of 3 GHz: at most 4 · 3e9 · 16 = 192 GFLOP/s.
ProbeResult good_result()
{
    ProbeResult result;
    result.wall_s = 10;
    result.cores = 4;
    result.host = {{"isa", {"avx", "avx2", "fma"}},
                   {"openblas_core", "Haswell"},
                   {"cpus_allowed_count", 4},
                   {"cores_allowed", 4},
                   {"siblings_outside", 0},
                   {"numa_nodes_used", 1},
                   {"cpu_governor", "powersave"},
                   {"cpu_frequency_driver", "intel_pstate"},
                   {"cpu_max_hz", 3.6e9},
                   {"transparent_hugepages", "madvise"},
                   {"memory_channels", 8},
                   {"memory_channels_used", 8},
                   {"disturbance", {{"core_clock_hz", 3e9}, {"stolen_s", 0.1}, {"used_by_others_s", 1.0}}}};
    OperatorResult dgemm;
    dgemm.id = "dgemm";
    dgemm.operations = 2.0 * 1024 * 1024 * 1024;
    dgemm.median_s = dgemm.operations / 150e9;
    result.operators = {dgemm};
    return result;
}

constexpr UnitSize kUnit{.cores = 4, .memory_bytes = 16'000'000'000};

std::vector<std::string> kinds(const ProbeResult& result, const UnitSize& unit = kUnit)
{
    std::vector<std::string> kinds;
    for (const Advice& advice : advise(result, unit)) {
        EXPECT_FALSE(advice.message.empty());
        EXPECT_FALSE(advice.remedy.empty());
        EXPECT_FALSE(advice.evidence.empty());
        kinds.push_back(advice.kind);
    }
    return kinds;
}

std::vector<std::string> kinds_with(const char* fact, const Json& value)
{
    ProbeResult result = good_result();
    result.host[fact] = value;
    return kinds(result);
}

TEST(Advise, SaysNothingWhereAllIsWell)
{
    EXPECT_THAT(kinds(good_result()), IsEmpty());
}

TEST(Advise, NamesTheBetterBlasCore)
{
    ProbeResult result = good_result();
    result.host["openblas_core"] = "Prescott";
    result.host["openblas_better_core"] = "SkylakeX";

    const std::vector<Advice> advices = advise(result, kUnit);

    ASSERT_EQ(advices.size(), 1U);
    EXPECT_EQ(advices[0].kind, "blas_core");
    EXPECT_THAT(advices[0].message, HasSubstr("Prescott"));
    EXPECT_THAT(advices[0].remedy, HasSubstr("OPENBLAS_CORETYPE=SkylakeX"));
}

TEST(Advise, ComparesDenseProductsWithTheInstructionSet)
{
    ProbeResult result = good_result();
    result.operators[0].median_s = result.operators[0].operations / 48e9; // 25 % of 192

    const std::vector<Advice> advices = advise(result, kUnit);

    ASSERT_EQ(advices.size(), 1U);
    EXPECT_EQ(advices[0].kind, "dgemm_rate");
    EXPECT_THAT(advices[0].message, HasSubstr("25 %"));
    EXPECT_DOUBLE_EQ(advices[0].evidence.at("peak_flops"), 192e9);

    result.operators[0].operations = 2.0 * 512 * 512 * 512; // too little for four cores
    result.operators[0].median_s = result.operators[0].operations / 48e9;
    EXPECT_THAT(kinds(result), IsEmpty());
}

TEST(Advise, SaysWhereTheBlasLibraryHasFewerThreadsThanCores)
{
    ProbeResult result = good_result();
    result.operators[0].median_s = result.operators[0].operations / 48e9; // 25 % of 192
    result.host["library_threads"] = {{"openblas", 1}, {"openmp", 4}};

    const std::vector<Advice> advices = advise(result, kUnit);

    ASSERT_EQ(advices.size(), 1U);
    EXPECT_EQ(advices[0].kind, "dgemm_rate");
    EXPECT_THAT(advices[0].message, HasSubstr("Threads of OpenBLAS: 1, for 4 cores."));
    EXPECT_DOUBLE_EQ(advices[0].evidence.at("openblas_threads"), 1);

    result.host["library_threads"]["openblas"] = 4;
    EXPECT_FALSE(advise(result, kUnit)[0].evidence.contains("openblas_threads"));
}

TEST(Advise, ComparesTheAffinityWithTheUnits)
{
    EXPECT_THAT(kinds_with("cpus_allowed_count", 2), ElementsAre("affinity_narrow"));
    ProbeResult wide = good_result();
    wide.host["cpus_allowed_count"] = 64;
    wide.host["cores_allowed"] = 64;
    EXPECT_THAT(kinds(wide), ElementsAre("affinity_wide"));
    wide.unit_count = 16; // sixteen units of four
    EXPECT_THAT(kinds(wide), IsEmpty());
    EXPECT_THAT(kinds(wide, {.cores = 0, .memory_bytes = 0}), IsEmpty());
}

TEST(Advise, SeesHowTheCoresLie)
{
    EXPECT_THAT(kinds_with("cores_allowed", 2), ElementsAre("hyperthreads"));
    EXPECT_THAT(kinds_with("siblings_outside", 4), ElementsAre("shared_cores"));
    EXPECT_THAT(kinds_with("numa_nodes_used", 2), ElementsAre("numa"));
}

TEST(Advise, BlamesTheGovernorOnlyWhenTheClockIsLow)
{
    ProbeResult result = good_result();
    result.host["disturbance"]["core_clock_hz"] = 1.8e9;
    EXPECT_THAT(kinds(result), ElementsAre("governor"));
    result.host["cpu_governor"] = "schedutil";
    EXPECT_THAT(kinds(result), ElementsAre("clock"));
    result.host.erase("cpu_max_hz");
    EXPECT_THAT(kinds(result), IsEmpty());
}

TEST(Advise, SeesLimitsBelowTheUnit)
{
    EXPECT_THAT(kinds_with("cpu_quota_cores", 3.5), ElementsAre("cpu_quota"));
    EXPECT_THAT(kinds_with("cpu_quota_cores", 4), IsEmpty());
    EXPECT_THAT(kinds_with("memory_limit_bytes", 8e9), ElementsAre("memory_limit"));
    EXPECT_THAT(kinds_with("memory_limit_bytes", 16e9), IsEmpty());
}

TEST(Advise, SeesWhatNeighboursTook)
{
    ProbeResult result = good_result();
    result.host["disturbance"]["stolen_s"] = 1; // of 40 s
    EXPECT_THAT(kinds(result), ElementsAre("steal"));
    result.host["disturbance"]["used_by_others_s"] = 5;
    EXPECT_THAT(kinds(result), ElementsAre("steal", "load"));
}

TEST(Advise, SeesHowMemoryIsSetUp)
{
    EXPECT_THAT(kinds_with("transparent_hugepages", "never"), ElementsAre("hugepages"));
    EXPECT_THAT(kinds_with("memory_channels_used", 2), ElementsAre("memory_channels"));
}

TEST(Advise, DoesNotSpeakOfLibrariesForProcessorsOnAGpu)
{
    ProbeResult result = good_result();
    result.host["gpu"] = {{"name", "H100"}};
    result.host["openblas_better_core"] = "SkylakeX";
    result.operators[0].median_s = 1;
    EXPECT_THAT(kinds(result), IsEmpty());
}

TEST(Advise, PassesOverFactsThatAreMissingOrNonsense)
{
    ProbeResult result = good_result();
    result.host = Json::object();
    EXPECT_THAT(kinds(result), IsEmpty());
    result.host = Json::array();
    EXPECT_THAT(kinds(result), IsEmpty());
    result.host = {{"isa", "avx2"},         {"openblas_better_core", 7},      {"cpus_allowed_count", "four"},
                   {"cores_allowed", -1},   {"disturbance", {1, 2}},          {"cpu_max_hz", nullptr},
                   {"memory_channels", {}}, {"transparent_hugepages", false}, {"cpu_quota_cores", Json::object()}};
    EXPECT_THAT(kinds(result), IsEmpty());
    result.wall_s = 0;
    EXPECT_THAT(kinds(result), IsEmpty());
}

TEST(Advise, CanBeSentAsJson)
{
    const Json json = to_json(Advice{"steal", "It took.", {{"stolen_share", 0.1}}, "Ask."});

    EXPECT_EQ(
        json,
        (Json{{"kind", "steal"}, {"message", "It took."}, {"evidence", {{"stolen_share", 0.1}}}, {"remedy", "Ask."}}));
}

} // namespace
} // namespace fathom
