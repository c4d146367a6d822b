#include "agent/catalog/catalog.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

/// What a center offers of what the network's administrators want it to (M9).
namespace fathom::agent {
namespace {

using test::host;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ProbeAbilities kAbilities{{"dgemm", "fft3d"}, "", false, {{"cuda", {{"dgemm"}, Json::object()}}}};

AgentTables file_of(const std::string& toml)
{
    const Result<AgentTables> tables = parse_agent_tables(toml);
    EXPECT_TRUE(tables) << describe(tables.error());
    return tables.value();
}

std::vector<UnitCut> wanted(const std::string& items)
{
    const Result<std::vector<UnitCut>> cuts =
        parse_resource_document(parse_json(R"({"unit_types": [)" + items + "]}").value());
    EXPECT_TRUE(cuts) << describe(cuts.error());
    return cuts.value();
}

/// 8 cores and so many GPUs.
Host machine(std::int64_t gpus = 0)
{
    Host machine = host(8);
    machine.memory_bytes = 80LL << 30U;
    for (std::int64_t number = 0; number < gpus; ++number) {
        const std::string id = "GPU-" + std::to_string(number);
        machine.devices.push_back({.kind = "cuda", .id = id, .model = "NVIDIA H100", .memory_bytes = 80LL << 30U});
    }
    return machine;
}

std::vector<std::string> codes(const ReconciledUnits& units)
{
    std::vector<std::string> codes;
    for (const ResourceDifference& difference : units.differences)
        codes.push_back(difference.unit_type + ":" + difference.code);
    return codes;
}

std::int64_t count_of(const ReconciledUnits& units, const std::string& name)
{
    for (const UnitType& type : units.plan) {
        if (type.report.name == name) {
            EXPECT_EQ(std::ssize(type.units), type.report.unit_count);
            return type.report.unit_count;
        }
    }
    return -1;
}

TEST(Reconcile, CutsTheMachineAsWantedWhereTheFileSaysNothing)
{
    const ReconciledUnits units = reconcile(
        machine(), {}, wanted(R"({"name": "quad", "cores_per_unit": 4, "unit_count": 1, "labels": {"rack": "a3"}},
                                 {"name": "pair", "cores_per_unit": 2, "operators": ["fft3d"]})"),
        RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(count_of(units, "quad"), 1);
    EXPECT_EQ(count_of(units, "pair"), 2);
    EXPECT_THAT(units.differences, IsEmpty());
    EXPECT_EQ(units.plan[0].report.facts["labels"]["rack"], "a3");
    EXPECT_EQ(units.plan[0].report.memory_bytes_per_unit, 40LL << 30U);
    EXPECT_THAT(units.plan[1].report.operators, ElementsAre("fft3d"));
}

TEST(Reconcile, NothingWantedIsAsTheFileSays)
{
    const AgentTables file = file_of("[[unit_type]]\nname = \"core\"\nunit_count = 2\n");

    const ReconciledUnits units = reconcile(machine(), file, {}, RemoteRule::kMachine, kAbilities);

    EXPECT_EQ(count_of(units, "core"), 2);
}

TEST(Reconcile, EightGpusAreWantedSevenAreSeen)
{
    const ReconciledUnits units =
        reconcile(machine(7), {}, wanted(R"({"name": "gpu", "resource_type": "cuda", "unit_count": 8})"),
                  RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(count_of(units, "gpu"), 7);
    ASSERT_EQ(units.differences.size(), 1U);
    const ResourceDifference& difference = units.differences[0];
    EXPECT_EQ(difference.code, "fewer_devices");
    EXPECT_EQ(difference.field, "unit_count");
    EXPECT_EQ(difference.wanted, 8);
    EXPECT_EQ(difference.seen, 7);
    EXPECT_EQ(difference.detail, R"("gpu" needs 8 of "cuda", but only 7 are left)");
}

TEST(Reconcile, NoCoreIsOfferedTwiceAndEachShortageIsNamed)
{
    const ReconciledUnits units =
        reconcile(machine(), {}, wanted(R"({"name": "big", "cores_per_unit": 6}, {"name": "quad", "cores_per_unit": 4},
                                           {"name": "core", "unit_count": 9})"),
                  RemoteRule::kMachine, kAbilities);

    EXPECT_EQ(count_of(units, "big"), 1);
    EXPECT_EQ(count_of(units, "quad"), 0);
    EXPECT_EQ(count_of(units, "core"), 2);
    EXPECT_THAT(codes(units), ElementsAre("quad:fewer_cores", "core:fewer_cores"));
    EXPECT_EQ(units.differences[1].wanted, 9);
    EXPECT_EQ(units.differences[1].seen, 2);
}

TEST(Reconcile, WithinTheFileNothingIsOfferedThatTheFileDoesNot)
{
    const AgentTables file = file_of("[[unit_type]]\nname = \"core\"\nunit_count = 2\n");
    const std::vector<UnitCut> all = wanted(R"({"name": "pair", "cores_per_unit": 2},
                                               {"name": "gpu", "resource_type": "cuda"})");

    const ReconciledUnits within = reconcile(machine(2), file, all, RemoteRule::kWithin, kAbilities);
    const ReconciledUnits everything = reconcile(machine(2), file, all, RemoteRule::kMachine, kAbilities);

    EXPECT_EQ(count_of(within, "pair"), 1);
    EXPECT_EQ(within.plan[0].report.memory_bytes_per_unit, 20LL << 30U);
    EXPECT_EQ(count_of(within, "gpu"), 0);
    EXPECT_THAT(codes(within), ElementsAre("gpu:fewer_devices"));
    EXPECT_EQ(count_of(everything, "pair"), 4);
    EXPECT_EQ(count_of(everything, "gpu"), 0) << "no core is left for its host part";
}

TEST(Reconcile, MemoryIsThatOfTheFileAndNotMore)
{
    const AgentTables file =
        file_of("[[unit_type]]\nname = \"core\"\nunit_count = 8\nmemory_bytes_per_unit = 1000000000\n");

    const ReconciledUnits units = reconcile(
        machine(), file, wanted(R"({"name": "pair", "cores_per_unit": 2, "memory_bytes_per_unit": 3000000000})"),
        RemoteRule::kWithin, kAbilities);
    const ReconciledUnits shares =
        reconcile(machine(), file, wanted(R"({"name": "pair", "cores_per_unit": 2})"), RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(count_of(units, "pair"), 2);
    EXPECT_THAT(codes(units), ElementsAre("pair:less_memory"));
    EXPECT_EQ(units.differences[0].wanted, 12'000'000'000);
    EXPECT_EQ(count_of(shares, "pair"), 4);
    EXPECT_EQ(shares.plan[0].report.memory_bytes_per_unit, 2'000'000'000);
    EXPECT_THAT(shares.differences, IsEmpty());
}

TEST(Reconcile, JobsAreBroughtNoCloserThanTheFileDoes)
{
    const std::vector<UnitCut> close =
        wanted(R"({"name": "part", "resource_type": "cuda", "sharing": "mps", "parts_per_device": 4},
                  {"name": "thread", "processors": "threads"},
                  {"name": "bare", "resource_type": "cuda", "cores_per_unit": 0, "memory_bytes_per_unit": 1000})");
    const AgentTables shares_two = file_of("[[unit_type]]\nname = \"g\"\nresource_type = \"cuda\"\nsharing = \"mps\"\n"
                                           "parts_per_device = 2\n[[unit_type]]\nname = \"core\"\n");

    EXPECT_THAT(codes(reconcile(machine(2), {}, close, RemoteRule::kWithin, kAbilities)),
                ElementsAre("part:not_permitted", "thread:not_permitted", "bare:not_permitted"));
    EXPECT_THAT(codes(reconcile(machine(2), shares_two, close, RemoteRule::kWithin, kAbilities)),
                ElementsAre("part:not_permitted", "thread:not_permitted", "bare:not_permitted"));
    EXPECT_TRUE(reconcile(machine(2), {}, close, RemoteRule::kWithin, kAbilities).plan.empty());
    const ReconciledUnits allowed = reconcile(machine(2), {}, close, RemoteRule::kMachine, kAbilities);
    EXPECT_EQ(count_of(allowed, "part"), 8);
}

TEST(Reconcile, ADeviceOfWhichTheFileOffersAPartIsNotOfferedWhole)
{
    const AgentTables file = file_of("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\nsharing = \"mps\"\n"
                                     "parts_per_device = 4\nunit_count = 6\n");

    const ReconciledUnits units = reconcile(machine(2), file, wanted(R"({"name": "gpu", "resource_type": "cuda"})"),
                                            RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(count_of(units, "gpu"), 1) << "the other one is offered by half";
}

TEST(Reconcile, WhatGoesToOtherCentersStaysAsTheFileSays)
{
    const AgentTables file = file_of("[[unit_type]]\nname = \"part\"\nunit_count = 4\n[[unit_type]]\nname = \"core\"\n"
                                     "[[sub_units]]\nkind = \"part\"\nunit_type = \"part\"\ntotal = 4\n");

    const ReconciledUnits units = reconcile(
        machine(), file, wanted(R"({"name": "part", "cores_per_unit": 2}, {"name": "quad", "cores_per_unit": 4})"),
        RemoteRule::kWithin, kAbilities);

    EXPECT_EQ(count_of(units, "part"), 4);
    EXPECT_EQ(count_of(units, "quad"), 1);
    EXPECT_THAT(codes(units), ElementsAre("part:kept_by_file"));
}

TEST(Reconcile, OperatorsAreThoseOfTheFileAtMost)
{
    const AgentTables file = file_of("[operators]\ncpu = [\"fft3d\"]\n");

    const ReconciledUnits units =
        reconcile(machine(), file, wanted(R"({"name": "core", "operators": ["dgemm", "fft3d"]})"), RemoteRule::kMachine,
                  kAbilities);

    EXPECT_THAT(units.plan.at(0).report.operators, ElementsAre("fft3d"));
    EXPECT_THAT(codes(units), ElementsAre("core:operator_missing"));
    EXPECT_THAT(units.differences[0].detail, HasSubstr("dgemm"));
}

TEST(Reconcile, WhatTheFileForbidsChangesNothing)
{
    const ReconciledUnits units =
        reconcile(machine(), {}, wanted(R"({"name": "quad", "cores_per_unit": 4})"), RemoteRule::kOff, kAbilities);

    EXPECT_EQ(count_of(units, "core"), 8);
    EXPECT_EQ(count_of(units, "quad"), -1);
}

TEST(Reconcile, ManyDifferencesStayFewInTheFacts)
{
    std::vector<ResourceDifference> differences(2000,
                                                ResourceDifference{.code = "x", .detail = std::string(5000, 'd')});

    CenterOffer offer = make_offer({.plan = {}, .differences = std::move(differences)}, {}, RemoteRule::kOff);

    EXPECT_EQ(offer.differences.size(), kMaxResourceDifferences);
    EXPECT_EQ(offer.catalog.facts["differences"].size(), 51U);
    EXPECT_LT(offer.catalog.facts.dump().size(), 64U << 10U) << "else the metascheduler refuses the catalog";
}

} // namespace
} // namespace fathom::agent
