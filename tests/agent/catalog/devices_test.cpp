#include "agent/catalog/catalog.hpp"
#include "agent/catalog/unit_plan.hpp"
#include "tests/agent/support/described_devices.hpp"

#include <gmock/gmock.h>

#include <set>

/// Units with devices: described and cut.
namespace fathom::agent {
namespace {

using test::host;
using test::kGolden;
using test::machine;
using test::parts_of_two;
using test::tables;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// M8: "a center with 100 CPU cores, 100 GPU cores' worth and 100 NPU cores' worth → 20 units of 5 of each kind".
TEST(DeviceUnits, GoldenCutOfM8)
{
    const AgentTables config = tables(kGolden);
    const UnitPlan plan = cut_units(machine(100, config, 100), config, {}).value();

    ASSERT_EQ(plan.size(), 3U);
    std::set<std::int64_t> cpus;
    std::set<std::string> devices;
    for (const UnitType& type : plan) {
        EXPECT_EQ(type.report.unit_count, 20) << type.report.name;
        EXPECT_EQ(type.units.size(), 20U) << type.report.name;
        for (const Unit& unit : type.units) {
            EXPECT_EQ(unit.cpus.size() + unit.devices.size(), 5U) << type.report.name;
            for (const std::int64_t cpu : unit.cpus)
                EXPECT_TRUE(cpus.insert(cpu).second) << cpu;
            for (const std::string& name : device_names(unit))
                EXPECT_TRUE(devices.insert(name).second) << name;
        }
    }
    EXPECT_EQ(cpus.size(), 100U);
    EXPECT_EQ(devices.size(), 200U);
    EXPECT_EQ(plan[2].report.facts["device"]["memory_bytes"], 34359738368);
}

TEST(DeviceUnits, AHundredPartsOfGpusAreCutLikeAHundredGpus)
{
    const AgentTables config = tables(R"(
        [[unit_type]]
        name = "part5"
        resource_type = "cuda"
        sharing = "time-slice"
        parts_per_device = 4
        devices_per_unit = 5
        cores_per_unit = 1
    )");
    const UnitPlan plan = cut_units(machine(20, config, 25), config, {}).value();

    EXPECT_EQ(plan[0].report.unit_count, 20);
    EXPECT_THAT(device_names(plan[0].units[0]),
                ElementsAre("GPU-0#0/4", "GPU-0#1/4", "GPU-0#2/4", "GPU-0#3/4", "GPU-1#0/4"));
}

TEST(DeviceUnits, WithoutAConfigEachGpuIsAUnitWithACore)
{
    const UnitPlan plan = cut_units(machine(4, {}, 2), {}, {}).value();

    ASSERT_EQ(plan.size(), 2U);
    EXPECT_EQ(plan[0].report.resource_type, "cuda");
    EXPECT_EQ(plan[0].report.unit_count, 2);
    EXPECT_EQ(plan[1].report.unit_count, 2) << "cores that are left";
}

TEST(DeviceUnits, WhatIsMissingOfThemIsSaidAndTheRestIsOffered)
{
    const AgentTables config = tables(R"(
        [[unit_type]]
        name = "gpu"
        resource_type = "cuda"
        unit_count = 4
        [[unit_type]]
        name = "old"
        resource_type = "cuda"
        device_model = "A100"
    )");
    const CutUnits cut = cut_what_fits(machine(8, config, 3), config, {});

    EXPECT_EQ(cut.plan[0].report.unit_count, 3);
    EXPECT_EQ(cut.plan[1].report.unit_count, 0);
    ASSERT_EQ(cut.shortfalls.size(), 2U);
    EXPECT_EQ(cut.shortfalls[0].field, "unit_type[0].unit_count");
    EXPECT_THAT(cut.shortfalls[0].detail, HasSubstr("needs 4 of \"cuda\", but only 3"));
    EXPECT_TRUE(cut_units(machine(8, config, 3), config, {})) << "a center without one of its GPUs starts all the same";
}

TEST(DeviceUnits, OfferWhatTheProbeProgramRunsOnTheirKind)
{
    const AgentTables config = tables(std::string(kGolden) + "[operators]\ncuda = [\"dgemm\", \"spmv\"]\n");
    ProbeAbilities abilities{.operators = {"dgemm", "fft3d", "spmv"}, .blas_core_type = ""};
    abilities.devices["cuda"] = {{"dgemm", "fft3d"}, {{"bus_gb_s", 25.0}}};
    const UnitPlan plan = cut_units(machine(100, config, 100), config, abilities).value();

    EXPECT_THAT(plan[0].report.operators, ElementsAre("dgemm", "fft3d", "spmv"));
    EXPECT_THAT(plan[1].report.operators, ElementsAre("dgemm"));
    EXPECT_THAT(plan[2].report.operators, IsEmpty());
    EXPECT_EQ(plan[1].report.facts["bus_gb_s"], 25.0);
    EXPECT_FALSE(plan[0].report.facts.contains("bus_gb_s"));
    EXPECT_THAT(unknown_operators(config, abilities), ElementsAre("spmv"));
}

TEST(ProcessorUnits, OfHardwareThreadsShareCores)
{
    Host machine = host(2);
    machine.cores = {{0, {0, 2}}, {0, {1, 3}}};
    machine.host_threads = 4;
    const AgentTables config = tables(R"(
        [[unit_type]]
        name = "thread"
        processors = "threads"
        unit_count = 1
        [[unit_type]]
        name = "core"
        [[unit_type]]
        name = "rest"
        processors = "threads"
    )");
    const UnitPlan plan = cut_units(machine, config, {}).value();

    EXPECT_THAT(plan[0].units.at(0).cpus, ElementsAre(0));
    EXPECT_THAT(plan[1].units.at(0).cpus, ElementsAre(1, 3)) << "a core of which a thread is taken is none any more";
    EXPECT_EQ(plan[1].report.unit_count, 1);
    EXPECT_THAT(plan[2].units.at(0).cpus, ElementsAre(2));
    EXPECT_EQ(plan[0].report.memory_bytes_per_unit, 500) << "a quarter of the machine's 2000";
}

TEST(ProcessorUnits, AreWholeNumaNodesOrLieWithinOneWhereAsked)
{
    const AgentTables whole = tables("[[unit_type]]\nname = \"node\"\nnuma = \"whole\"\n");
    const UnitPlan nodes = cut_units(host(7, 3), whole, {}).value();
    const AgentTables within = tables("[[unit_type]]\nname = \"pair\"\ncores_per_unit = 2\nnuma = \"within\"\n");
    const UnitPlan pairs = cut_units(host(6, 3), within, {}).value();

    ASSERT_EQ(nodes[0].units.size(), 2U) << "the third node has one core only";
    EXPECT_THAT(nodes[0].units[1].cpus, ElementsAre(3, 4, 5));
    EXPECT_EQ(nodes[0].report.cores_per_unit, 3);
    EXPECT_EQ(pairs[0].report.unit_count, 2) << "the cores that are left over lie on different nodes";
}

TEST(DeviceTables, NameTheKeyThatIsWrong)
{
    const Result<AgentTables> wrong = parse_agent_tables(R"(
        [[device]]
        kind = "npu"
        count = 2
        file = "/etc/passwd"
        [[device]]
        kind = "cpu"
        count = 1
        [[unit_type]]
        name = "a"
        devices_per_unit = 2
        [[unit_type]]
        name = "b"
        resource_type = "npu"
        sharing = "mig"
        [[unit_type]]
        name = "c"
        resource_type = "cuda"
        cores_per_unit = 0
        sharing = "mps"
        [[unit_type]]
        name = "d"
        cores_per_unit = 0
    )");

    ASSERT_FALSE(wrong);
    const Error error = wrong.error();
    std::set<std::string> fields;
    for (const FieldError& field : error.fields)
        fields.insert(field.field);
    for (const char* field : {"device[0].file", "device[1].kind", "device[1].variable", "unit_type[0].devices_per_unit",
                              "unit_type[1].sharing", "unit_type[2].memory_bytes_per_unit",
                              "unit_type[2].parts_per_device", "unit_type[3].cores_per_unit"})
        EXPECT_TRUE(fields.contains(field)) << field;
}

TEST(DescribedDevices, WhoseFileIsNotThereAreMissing)
{
    const AgentTables config = tables(kGolden);
    std::vector<std::string> missing;
    const std::vector<HostDevice> devices =
        described_devices(config.devices, [](const std::string& path) { return path != "/dev/davinci7"; }, missing);

    EXPECT_EQ(devices.size(), 99U);
    EXPECT_THAT(missing, ElementsAre("device npu-7 is described, and /dev/davinci7 is not there"));
    EXPECT_THAT(devices[1].files, ElementsAre("/dev/davinci_manager", "/dev/davinci1"));
}

TEST(DeviceUnits, SayHowManyHaveADeviceTogether)
{
    EXPECT_EQ(parts_of_two()[0].report.facts["device"]["units_per_device"], 4);
    const AgentTables chained = tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\n"
                                       "sharing = \"time-slice\"\nparts_per_device = 2\ndevices_per_unit = 3\n");
    EXPECT_EQ(cut_units(machine(8, chained, 6), chained, {}).value()[0].units_per_device, 2)
        << "three devices, the middle one of both";
    const AgentTables whole = tables("[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\n");
    EXPECT_FALSE(
        cut_units(machine(8, whole, 2), whole, {}).value()[0].report.facts["device"].contains("units_per_device"));
}

TEST(HardwareChange, IsWhatMovesAUnitAndNotWhatAlwaysVaries)
{
    const Hardware before{.cpus = {0, 1}, .memory_bytes = 1000, .devices = {"GPU-0"}, .missing = {}};
    Hardware now = before;
    now.memory_bytes = 995;
    EXPECT_FALSE(has_changed(before, now));
    now.memory_bytes = 900;
    EXPECT_TRUE(has_changed(before, now));
    now = before;
    now.cpus = {0};
    EXPECT_TRUE(has_changed(before, now));
    now = before;
    now.devices.clear();
    EXPECT_TRUE(has_changed(before, now));
    now = before;
    now.missing = {"GPU 1 does not answer"};
    EXPECT_TRUE(has_changed(before, now));
}

} // namespace
} // namespace fathom::agent
