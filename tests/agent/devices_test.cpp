#include "agent/catalog/catalog.hpp"
#include "agent/catalog/nvidia.hpp"
#include "agent/catalog/unit_plan.hpp"
#include "agent/executor/local/environment.hpp"
#include "agent/jobs/device_supplies.hpp"
#include "agent/jobs/unit_allocator.hpp"
#include "tests/agent/support/builders.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <set>

/// Units with devices: described, discovered, cut, given away and handed over.
namespace fathom::agent {
namespace {

using test::host;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool is_there(const std::string& /*path*/)
{
    return true;
}

AgentTables tables(const std::string& toml)
{
    const Result<AgentTables> tables = parse_agent_tables(toml);
    EXPECT_TRUE(tables) << describe(tables.error());
    return tables.value();
}

/// A machine with the devices that its configuration describes, and GPUs.
Host machine(std::int64_t cores, const AgentTables& tables, std::int64_t gpus = 0)
{
    Host machine = host(cores);
    std::vector<std::string> missing;
    machine.devices = described_devices(tables.devices, is_there, missing);
    EXPECT_THAT(missing, IsEmpty());
    for (std::int64_t number = 0; number < gpus; ++number) {
        const std::string id = "GPU-" + std::to_string(number);
        machine.devices.push_back({.kind = "cuda",
                                   .id = id,
                                   .model = "NVIDIA H100",
                                   .memory_bytes = 80LL << 30U,
                                   .variable = "CUDA_VISIBLE_DEVICES",
                                   .value = id});
    }
    return machine;
}

AttemptOrder order_of(const std::string& unit_type, std::int64_t count)
{
    AttemptOrder order = test::shell_order("true");
    order.unit_type = unit_type;
    order.unit_count = count;
    return order;
}

std::map<std::string, std::string> environment_of(const RunOrder& run)
{
    return job_environment(run, {"/work", "/programs", "nobody"});
}

constexpr const char* kGolden = R"(
    [[device]]
    kind = "npu"
    count = 100
    memory_bytes = 34359738368
    variable = "ASCEND_RT_VISIBLE_DEVICES"
    file = "/dev/davinci{}"
    shared_files = ["/dev/davinci_manager"]
    [[unit_type]]
    name = "cpu5"
    cores_per_unit = 5
    [[unit_type]]
    name = "gpu5"
    resource_type = "cuda"
    devices_per_unit = 5
    cores_per_unit = 0
    memory_bytes_per_unit = 1000
    [[unit_type]]
    name = "npu5"
    resource_type = "npu"
    devices_per_unit = 5
    cores_per_unit = 0
    memory_bytes_per_unit = 1000
)";

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

TEST(DeviceAllocation, GivesEachDeviceOnceAlsoAcrossANewCut)
{
    const AgentTables whole = tables("[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\n");
    const AgentTables parts =
        tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\nsharing = \"time-slice\"\n"
               "parts_per_device = 2\n");
    const Host machine_with_two = machine(8, whole, 2);
    UnitAllocator units(cut_units(machine_with_two, whole, {}).value());
    const AttemptOrder first = order_of("gpu", 1);

    EXPECT_THAT(units.allocate(first).value().devices, ElementsAre("GPU-0"));
    units.replace_plan(cut_units(machine_with_two, parts, {}).value());
    // The parts lie on other cores than the first job; only its GPU is taken.
    EXPECT_THAT(units.allocate(order_of("part", 2)).value().devices, ElementsAre("GPU-1#0/2", "GPU-1#1/2"));
    EXPECT_EQ(units.allocate(order_of("part", 1)).error().code, Errc::kTooMany);
    units.release(first.attempt_id);
    EXPECT_THAT(units.allocate(order_of("part", 1)).value().devices, ElementsAre("GPU-0#0/2"));
}

/// Two GPUs of four parts.
UnitPlan parts_of_two()
{
    const AgentTables config = tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\n"
                                      "sharing = \"time-slice\"\nparts_per_device = 4\n");
    return cut_units(machine(8, config, 2), config, {}).value();
}

AttemptOrder exclusive_order_of(const std::string& unit_type, std::int64_t count)
{
    AttemptOrder order = order_of(unit_type, count);
    order.is_exclusive = true;
    return order;
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

TEST(DeviceAllocation, FillsDevicesThatHaveATenantSoThatOthersStayWhole)
{
    UnitAllocator units(parts_of_two());
    const AttemptOrder first = order_of("part", 2);
    ASSERT_THAT(units.allocate(first).value().units, ElementsAre(0, 1));
    const AttemptOrder beside = order_of("part", 1);
    ASSERT_THAT(units.allocate(beside).value().units, ElementsAre(2));
    ASSERT_THAT(units.allocate(order_of("part", 2)).value().units, ElementsAre(3, 4)) << "more than there is room";
    units.release(first.attempt_id);
    units.release(beside.attempt_id);

    EXPECT_THAT(units.allocate(order_of("part", 1)).value().units, ElementsAre(0)) << "both have one tenant";
    EXPECT_THAT(units.allocate(order_of("part", 1)).value().units, ElementsAre(1));
}

TEST(DeviceAllocation, AJobThatSharesNoneGetsWholeDevicesAndNobodyABeside)
{
    UnitAllocator units(parts_of_two());
    const AttemptOrder neighbour = order_of("part", 1);
    ASSERT_TRUE(units.allocate(neighbour));
    const AttemptOrder exclusive = exclusive_order_of("part", 1);

    const Allocation alone = units.allocate(exclusive).value();
    EXPECT_THAT(alone.units, ElementsAre(4, 5, 6, 7)) << "all parts of the GPU that nobody has a part of";
    EXPECT_EQ(alone.cores, 4);
    const Error none = units.allocate(exclusive_order_of("part", 1)).error();
    EXPECT_EQ(none.code, Errc::kTooMany);
    EXPECT_THAT(none.detail, HasSubstr("on devices of which no other job has a part"));
    EXPECT_THAT(units.allocate(order_of("part", 3)).value().units, ElementsAre(1, 2, 3));
    EXPECT_EQ(units.allocate(order_of("part", 1)).error().code, Errc::kTooMany) << "nobody gets a part beside it";

    units.release(exclusive.attempt_id);
    EXPECT_TRUE(units.allocate(order_of("part", 1)));
}

TEST(DeviceAllocation, GivesAGpuThatHasTheMemoryThatTheJobNeeds)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    UnitAllocator units(parts_of_two());
    ASSERT_THAT(units.allocate(order_of("part", 1)).value().units, ElementsAre(0));
    GpuMemoryReport report;
    report.gpus.push_back({.gpu = "GPU-0", .capacity_bytes = 16 * kPiece, .persistent_bytes = 14 * kPiece});
    report.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = 16 * kPiece});
    units.know_gpus(report);
    const auto needing = [&](std::int64_t pieces) {
        AttemptOrder order = order_of("part", 1);
        order.environment["FATHOM_GPU_PERSISTENT_BYTES"] = std::to_string(pieces * kPiece);
        return units.allocate(order).value().units;
    };

    EXPECT_THAT(needing(2), ElementsAre(1)) << "beside the one that runs";
    EXPECT_THAT(needing(2), ElementsAre(4)) << "no room is left there, although nobody has told so yet";
    EXPECT_THAT(needing(20), ElementsAre(2)) << "fits on none: its program will be told so";
}

TEST(DeviceAllocation, NobodyHasAllOfADeviceOfWhichAnotherCenterHasAPart)
{
    UnitAllocator units(parts_of_two());
    units.limit_units({{"part", 6}});

    EXPECT_THAT(units.allocate(exclusive_order_of("part", 1)).value().units, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(units.allocate(exclusive_order_of("part", 1)).error().code, Errc::kTooMany);
    EXPECT_THAT(units.allocate(order_of("part", 2)).value().units, ElementsAre(4, 5));
}

TEST(DeviceAllocation, GivesNoneThatAnUnknownAttemptMayHave)
{
    const AgentTables config = tables(kGolden);
    UnitAllocator units(cut_units(machine(100, config, 100), config, {}).value());
    const AttemptId stray = AttemptId::make();
    units.hold_unknown_devices(stray, {3});

    EXPECT_EQ(units.allocate(order_of("gpu5", 1)).error().code, Errc::kTooMany);
    EXPECT_TRUE(units.allocate(order_of("cpu5", 19)));
    units.release(stray);
    EXPECT_TRUE(units.allocate(order_of("gpu5", 20)));
}

TEST(DeviceSupplies, NameTheJobsDevicesAndHideOthersWhateverItAsksFor)
{
    const AgentTables config = tables(kGolden);
    const UnitPlan plan = cut_units(machine(100, config, 100), config, {}).value();
    AttemptOrder order = order_of("npu5", 1);
    order.environment = {{"ASCEND_RT_VISIBLE_DEVICES", "99"}, {"CUDA_VISIBLE_DEVICES", "GPU-7"}};
    RunOrder run{order, {}, 0, 0, {}};

    pass_devices(run, plan, plan[2], {1});

    const std::map<std::string, std::string> variables = environment_of(run);
    EXPECT_EQ(variables.at("ASCEND_RT_VISIBLE_DEVICES"), "5,6,7,8,9");
    EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
    EXPECT_EQ(variables.at("FATHOM_DEVICES"), "npu-5,npu-6,npu-7,npu-8,npu-9");
    EXPECT_EQ(run.cpus.size(), 100U) << "its host part runs where the center's other jobs do";
    EXPECT_EQ(run.cores, 1);
}

TEST(DeviceSupplies, HideGpusFromJobsWithoutOne)
{
    const AgentTables config = tables(kGolden);
    const UnitPlan plan = cut_units(machine(100, config, 100), config, {}).value();
    RunOrder run{order_of("cpu5", 1), {0, 1, 2, 3, 4}, 5, 0, {}};

    pass_devices(run, plan, plan[0], {0});

    EXPECT_EQ(environment_of(run).at("CUDA_VISIBLE_DEVICES"), "");
    EXPECT_FALSE(environment_of(run).contains("FATHOM_DEVICES"));
    EXPECT_EQ(run.cpus.size(), 5U);
}

TEST(DeviceSupplies, HideTheFilesOfDevicesThatTheJobDoesNotHave)
{
    const AgentTables config = tables(kGolden);
    UnitPlan plan = cut_units(machine(100, config, 100), config, {}).value();
    for (UnitType& type : plan) {
        for (Unit& unit : type.units) {
            for (UnitDevice& one : unit.devices)
                one.device.files = {"/dev/" + one.device.id, "/dev/all-of-" + one.device.kind};
        }
    }
    RunOrder with_npus{order_of("npu5", 1), {}, 1, 0, {}};
    RunOrder without{order_of("cpu5", 1), {0, 1, 2, 3, 4}, 5, 0, {}};

    pass_devices(with_npus, plan, plan[2], {1});
    pass_devices(without, plan, plan[0], {0});

    const auto hides = [](const RunOrder& run, const std::string& file) {
        return std::count(run.hidden_files.begin(), run.hidden_files.end(), file) == 1;
    };
    EXPECT_EQ(with_npus.hidden_files.size(), 101U + 95U) << "all GPUs with the file that they share, the other NPUs";
    EXPECT_FALSE(hides(with_npus, "/dev/npu-5"));
    EXPECT_TRUE(hides(with_npus, "/dev/npu-4"));
    EXPECT_EQ(without.hidden_files.size(), 202U);
    EXPECT_TRUE(hides(without, "/dev/npu-5"));
}

TEST(DeviceSupplies, LimitTheShareOfAGpuByItsParts)
{
    const AgentTables config = tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\nsharing = \"mps\"\n"
                                      "parts_per_device = 4\n");
    const UnitPlan plan = cut_units(machine(8, config, 2), config, {}).value();
    RunOrder run{order_of("part", 3), {0, 1, 2}, 3, 0, {}};

    pass_devices(run, plan, plan[0], {0, 1, 2});

    const std::map<std::string, std::string> variables = environment_of(run);
    EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "GPU-0");
    EXPECT_EQ(variables.at("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "75");
    EXPECT_EQ(variables.at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=61440M");
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

/// What the stand-in driver tells.
class NvidiaGpus : public testing::Test {
  protected:
    void describe_gpus(const std::string& lines)
    {
        const std::filesystem::path file = folder_.path() / "gpus";
        std::ofstream(file) << lines;
        ::setenv("FATHOM_STANDIN_GPUS", file.c_str(), 1); // NOLINT(concurrency-mt-unsafe): no other thread
    }
    void TearDown() override { ::unsetenv("FATHOM_STANDIN_GPUS"); } // NOLINT(concurrency-mt-unsafe)

    TemporaryFolder folder_;
    std::vector<std::string> missing_;
};

TEST_F(NvidiaGpus, AreFoundWithTheirNamesAndMemory)
{
    describe_gpus("gpu\tGPU-aa\tNVIDIA H100\t85899345920\ngpu\tGPU-bb\tNVIDIA A100\t42949672960\n");
    const std::vector<HostDevice> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();

    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[1].id, "GPU-bb");
    EXPECT_EQ(gpus[1].model, "NVIDIA A100");
    EXPECT_EQ(gpus[1].memory_bytes, 42949672960);
    EXPECT_EQ(gpus[1].value, "GPU-bb");
    EXPECT_THAT(gpus[1].files, ElementsAre("/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"));
    EXPECT_THAT(missing_, IsEmpty());
}

TEST_F(NvidiaGpus, ThatAreCutAreTheirParts)
{
    describe_gpus("cut\tGPU-aa\tNVIDIA H100\t85899345920\npart\tMIG-1\tNVIDIA H100 MIG 1g.10gb\t10737418240\n"
                  "part\tMIG-2\tNVIDIA H100 MIG 1g.10gb\t10737418240\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n");
    Host machine = host(8);
    machine.devices = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();
    const AgentTables config =
        tables("[[unit_type]]\nname = \"mig\"\nresource_type = \"cuda\"\nsharing = \"mig\"\n"
               "device_model = \"1g.10gb\"\n[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\n");
    const UnitPlan plan = cut_units(machine, config, {}).value();

    EXPECT_EQ(plan[0].report.unit_count, 2);
    EXPECT_THAT(device_names(plan[0].units[1]), ElementsAre("MIG-2"));
    EXPECT_EQ(plan[1].report.unit_count, 1);
    EXPECT_THAT(device_names(plan[1].units[0]), ElementsAre("GPU-bb"));
}

TEST_F(NvidiaGpus, ThatAreLostAreSaidAndOthersStay)
{
    describe_gpus("lost\tGPU-aa\tNVIDIA H100\t1\ngpu\tGPU-bb\tNVIDIA H100\t85899345920\n");
    const std::vector<HostDevice> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_).value();

    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_EQ(gpus[0].id, "GPU-bb");
    EXPECT_THAT(missing_, ElementsAre("GPU 0 does not answer: GPU is lost (NVML 15)"));
}

TEST_F(NvidiaGpus, AreNoneWithoutADriver)
{
    EXPECT_THAT(find_nvidia_gpus("/nowhere/libnvidia-ml.so.1", missing_).value(), IsEmpty());
    const Result<std::vector<HostDevice>> gpus = find_nvidia_gpus(FATHOM_STANDIN_NVML, missing_);
    ASSERT_FALSE(gpus);
    EXPECT_THAT(gpus.error().detail, HasSubstr("Driver Not Loaded"));
}

} // namespace
} // namespace fathom::agent
