#include "agent/executor/local/environment.hpp"
#include "agent/jobs/device_supplies.hpp"
#include "agent/jobs/unit_allocator.hpp"
#include "tests/agent/support/described_devices.hpp"

#include <gmock/gmock.h>

#include <algorithm>

/// Units with devices: given away and handed over.
namespace fathom::agent {
namespace {

using test::kGolden;
using test::machine;
using test::parts_of_two;
using test::tables;
using testing::ElementsAre;
using testing::HasSubstr;

AttemptOrder order_for(const std::string& unit_type, std::int64_t count)
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

AttemptOrder exclusive_order_for(const std::string& unit_type, std::int64_t count)
{
    AttemptOrder order = order_for(unit_type, count);
    order.is_exclusive = true;
    return order;
}

TEST(DeviceAllocation, GivesEachDeviceOnceAlsoAcrossANewCut)
{
    const AgentTables whole = tables("[[unit_type]]\nname = \"gpu\"\nresource_type = \"cuda\"\n");
    const AgentTables parts =
        tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\nsharing = \"time-slice\"\n"
               "parts_per_device = 2\n");
    const Host machine_with_two = machine(8, whole, 2);
    UnitAllocator units(cut_units(machine_with_two, whole, {}).value());
    const AttemptOrder first = order_for("gpu", 1);

    EXPECT_THAT(units.allocate(first).value().devices, ElementsAre("GPU-0"));
    units.replace_plan(cut_units(machine_with_two, parts, {}).value());
    // The parts lie on other cores than the first job; only its GPU is taken.
    EXPECT_THAT(units.allocate(order_for("part", 2)).value().devices, ElementsAre("GPU-1#0/2", "GPU-1#1/2"));
    EXPECT_EQ(units.allocate(order_for("part", 1)).error().code, Errc::kTooMany);
    units.release(first.attempt_id);
    EXPECT_THAT(units.allocate(order_for("part", 1)).value().devices, ElementsAre("GPU-0#0/2"));
}

TEST(DeviceAllocation, FillsDevicesThatHaveATenantSoThatOthersStayWhole)
{
    UnitAllocator units(parts_of_two());
    const AttemptOrder first = order_for("part", 2);
    ASSERT_THAT(units.allocate(first).value().units, ElementsAre(0, 1));
    const AttemptOrder beside = order_for("part", 1);
    ASSERT_THAT(units.allocate(beside).value().units, ElementsAre(2));
    ASSERT_THAT(units.allocate(order_for("part", 2)).value().units, ElementsAre(3, 4)) << "more than there is room";
    units.release(first.attempt_id);
    units.release(beside.attempt_id);

    EXPECT_THAT(units.allocate(order_for("part", 1)).value().units, ElementsAre(0)) << "both have one tenant";
    EXPECT_THAT(units.allocate(order_for("part", 1)).value().units, ElementsAre(1));
}

TEST(DeviceAllocation, AJobThatSharesNoneGetsWholeDevicesAndNobodyABeside)
{
    UnitAllocator units(parts_of_two());
    const AttemptOrder neighbour = order_for("part", 1);
    ASSERT_TRUE(units.allocate(neighbour));
    const AttemptOrder exclusive = exclusive_order_for("part", 1);

    const Allocation alone = units.allocate(exclusive).value();
    EXPECT_THAT(alone.units, ElementsAre(4, 5, 6, 7)) << "all parts of the GPU that nobody has a part of";
    EXPECT_EQ(alone.cores, 4);
    const Error none = units.allocate(exclusive_order_for("part", 1)).error();
    EXPECT_EQ(none.code, Errc::kTooMany);
    EXPECT_THAT(none.detail, HasSubstr("on devices of which no other job has a part"));
    EXPECT_THAT(units.allocate(order_for("part", 3)).value().units, ElementsAre(1, 2, 3));
    EXPECT_EQ(units.allocate(order_for("part", 1)).error().code, Errc::kTooMany) << "nobody gets a part beside it";

    units.release(exclusive.attempt_id);
    EXPECT_TRUE(units.allocate(order_for("part", 1)));
}

TEST(DeviceAllocation, GivesAGpuThatHasTheMemoryThatTheJobNeeds)
{
    constexpr std::int64_t kPiece = kGpuPieceBytes;
    UnitAllocator units(parts_of_two());
    ASSERT_THAT(units.allocate(order_for("part", 1)).value().units, ElementsAre(0));
    GpuMemoryReport report;
    report.gpus.push_back({.gpu = "GPU-0", .capacity_bytes = 16 * kPiece, .persistent_bytes = 14 * kPiece});
    report.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = 16 * kPiece});
    units.know_gpus(report);
    const auto needing = [&](std::int64_t pieces) {
        AttemptOrder order = order_for("part", 1);
        order.environment["FATHOM_GPU_PERSISTENT_BYTES"] = std::to_string(pieces * kPiece);
        return units.allocate(order).value().units;
    };

    EXPECT_THAT(needing(2), ElementsAre(1)) << "beside the one that runs";
    EXPECT_THAT(needing(2), ElementsAre(4)) << "no room is left there, although nobody has told so yet";
    EXPECT_THAT(needing(20), ElementsAre(2)) << "fits on none: its program will be told so";
}

constexpr KernelClass kCompute = KernelClass::kCompute;
constexpr KernelClass kMemory = KernelClass::kMemory;

AttemptOrder part_for(KernelClass kernel_class)
{
    AttemptOrder order = order_for("part", 1);
    order.kernel_class = kernel_class;
    return order;
}

/// Somebody has these parts.
AttemptId hold(UnitAllocator& units, const std::vector<std::string>& parts, KernelClass kernel_class)
{
    const AttemptId attempt = AttemptId::make();
    units.hold(attempt, {}, parts, kernel_class);
    return attempt;
}

TEST(DeviceAllocation, PutsAJobBesideTheOneWithWhichMostIsDone)
{
    UnitAllocator units(parts_of_two());
    hold(units, {"GPU-0#0/4"}, kMemory);
    hold(units, {"GPU-1#0/4", "GPU-1#1/4"}, kCompute);

    EXPECT_THAT(units.allocate(part_for(kCompute)).value().units, ElementsAre(1)) << "though the other GPU is fuller";
    EXPECT_THAT(units.allocate(part_for(kMemory)).value().units, ElementsAre(6));
    EXPECT_THAT(units.allocate(order_for("part", 1)).value().units, ElementsAre(7))
        << "nothing is known of it: whole devices stay free";
}

TEST(DeviceAllocation, PutsNobodyBelowAnEqualPartWhileAnotherDeviceHasRoom)
{
    UnitAllocator units(parts_of_two());
    hold(units, {"GPU-0#0/4"}, kMemory);
    hold(units, {"GPU-0#1/4"}, kCompute);

    EXPECT_THAT(units.allocate(part_for(kMemory)).value().units, ElementsAre(4)) << "0.5 · 0.6 is less than a third";
    hold(units, {"GPU-1#1/4", "GPU-1#2/4", "GPU-1#3/4"}, kMemory);
    EXPECT_THAT(units.allocate(part_for(kMemory)).value().units, ElementsAre(2)) << "nothing else has room";
}

TEST(DeviceAllocation, MemoryThatAJobNeedsCountsBeforeItsNeighbours)
{
    UnitAllocator units(parts_of_two());
    hold(units, {"GPU-0#0/4"}, kMemory);
    hold(units, {"GPU-1#0/4"}, kCompute);
    GpuMemoryReport report;
    report.gpus.push_back({.gpu = "GPU-0", .capacity_bytes = kGpuPieceBytes, .persistent_bytes = kGpuPieceBytes});
    units.know_gpus(report);
    AttemptOrder order = part_for(kCompute);
    order.environment["FATHOM_GPU_PERSISTENT_BYTES"] = std::to_string(kGpuPieceBytes);

    EXPECT_THAT(units.allocate(order).value().units, ElementsAre(5));
}

TEST(DeviceNeighboursOf, AreCountedByClassWithWhatEachIsExpectedToKeep)
{
    UnitAllocator units(parts_of_two());
    const AttemptOrder first = part_for(kMemory);
    ASSERT_TRUE(units.allocate(first));
    EXPECT_EQ(units.neighbours_of(first.attempt_id), std::nullopt) << "it is alone";
    const AttemptOrder second = part_for(kCompute);
    ASSERT_TRUE(units.allocate(second));

    const DeviceNeighbours beside = units.neighbours_of(second.attempt_id).value();
    EXPECT_EQ(beside.memory_count, 1);
    EXPECT_EQ(beside.count(), 1);
    EXPECT_DOUBLE_EQ(beside.expected_share.value(), 0.70);
    EXPECT_DOUBLE_EQ(beside.least_share_beside.value(), 0.60);
    EXPECT_EQ(beside.basis, PairSource::kDefault);
    EXPECT_EQ(beside.expected_spread, std::nullopt) << "an order, no measurement";

    hold(units, {"GPU-0#3/4"}, KernelClass::kUnknown);
    EXPECT_EQ(units.neighbours_of(second.attempt_id), (DeviceNeighbours{.memory_count = 1, .unknown_count = 1}))
        << "what it keeps beside that one nobody knows";
    EXPECT_EQ(units.neighbours_of(AttemptId::make()), std::nullopt);
}

/// A job that was seen to share GPUs.
AttemptOrder part_for(KernelClass kernel_class, const std::string& kind, const std::vector<GpuPair>& pairs)
{
    AttemptOrder order = part_for(kernel_class);
    order.gpu_kind = kind;
    order.gpu_pairs = pairs;
    return order;
}

/// Classes would have "solve" beside "stream"; those who ran together know better.
std::vector<GpuPair> pairs_against_their_classes()
{
    return {{.a = "solve",
             .b = "stream",
             .a_class = kCompute,
             .b_class = kMemory,
             .a_share = 0.45,
             .b_share = 0.4,
             .count = 4,
             .a_spread = 0.05,
             .b_spread = 0.05},
            {.a = "render",
             .b = "solve",
             .a_class = kCompute,
             .b_class = kCompute,
             .a_share = 0.9,
             .b_share = 0.8,
             .count = 4,
             .a_spread = 0.04,
             .b_spread = 0.06}};
}

TEST(DeviceAllocation, KeepsAMeasuredBadPairApartThoughItsClassesWouldShare)
{
    const std::vector<GpuPair> pairs = pairs_against_their_classes();
    UnitAllocator units(parts_of_two());
    hold(units, {"GPU-0#3/4"}, KernelClass::kUnknown);
    ASSERT_THAT(units.allocate(part_for(kMemory, "stream", {})).value().units, ElementsAre(0));
    hold(units, {"GPU-1#1/4"}, kCompute);
    UnitAllocator by_class = units;

    EXPECT_THAT(by_class.allocate(part_for(kCompute, "solve", {})).value().units, ElementsAre(1))
        << "beside the memory-intensive one";
    EXPECT_THAT(units.allocate(part_for(kCompute, "solve", pairs)).value().units, ElementsAre(4));
}

TEST(DeviceAllocation, APairIsKnownByKindAlsoWhereNoClassIs)
{
    const std::vector<GpuPair> pairs = pairs_against_their_classes();
    UnitAllocator units(parts_of_two());
    ASSERT_THAT(units.allocate(part_for(KernelClass::kUnknown, "stream", {})).value().units, ElementsAre(0));
    hold(units, {"GPU-1#3/4"}, KernelClass::kUnknown);

    EXPECT_THAT(units.allocate(part_for(KernelClass::kUnknown, "solve", pairs)).value().units, ElementsAre(4));
}

TEST(DeviceNeighboursOf, SaysWhatTheExpectationRestsOnAndHowFarOffItMayBe)
{
    UnitAllocator units(parts_of_two());
    units.limit_units({{"part", 4}});
    ASSERT_TRUE(units.allocate(part_for(kMemory, "stream", {})));
    const AttemptOrder measured = part_for(kCompute, "solve", pairs_against_their_classes());
    ASSERT_TRUE(units.allocate(measured));

    const DeviceNeighbours beside = units.neighbours_of(measured.attempt_id).value();
    EXPECT_EQ(beside.basis, PairSource::kMeasured);
    EXPECT_DOUBLE_EQ(beside.expected_share.value(), 0.45);
    EXPECT_NEAR(beside.expected_spread.value(), 0.05, 1e-12);
    EXPECT_DOUBLE_EQ(beside.least_share_beside.value(), 0.4);

    units.release(measured.attempt_id);
    const AttemptOrder other = part_for(kCompute, "new", pairs_against_their_classes());
    ASSERT_TRUE(units.allocate(other));
    EXPECT_EQ(units.neighbours_of(other.attempt_id).value().basis, PairSource::kClassAverage);

    units.release(other.attempt_id);
    ASSERT_TRUE(units.allocate(measured));
    units.hold(measured.attempt_id, {}, {"GPU-0#1/4"});
    units.know_job(measured);
    EXPECT_EQ(units.neighbours_of(measured.attempt_id).value().basis, PairSource::kMeasured)
        << "also after a restart of the agent";
}

TEST(DeviceNeighboursOf, OfSeveralDevicesAreThoseOfTheOneWhereItKeepsLeast)
{
    UnitAllocator units(parts_of_two());
    hold(units, {"GPU-0#0/4"}, kMemory);
    hold(units, {"GPU-1#0/4"}, kCompute);
    const AttemptId wide = hold(units, {"GPU-0#1/4", "GPU-0#2/4", "GPU-1#1/4"}, kCompute);

    const DeviceNeighbours beside = units.neighbours_of(wide).value();

    EXPECT_EQ(beside.compute_count, 1);
    EXPECT_EQ(beside.count(), 1);
    EXPECT_DOUBLE_EQ(beside.expected_share.value(), 0.55);
}

TEST(DeviceAllocation, NobodyHasAllOfADeviceOfWhichAnotherCenterHasAPart)
{
    UnitAllocator units(parts_of_two());
    units.limit_units({{"part", 6}});

    EXPECT_THAT(units.allocate(exclusive_order_for("part", 1)).value().units, ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(units.allocate(exclusive_order_for("part", 1)).error().code, Errc::kTooMany);
    EXPECT_THAT(units.allocate(order_for("part", 2)).value().units, ElementsAre(4, 5));
}

TEST(DeviceAllocation, GivesNoneThatAnUnknownAttemptMayHave)
{
    const AgentTables config = tables(kGolden);
    UnitAllocator units(cut_units(machine(100, config, 100), config, {}).value());
    const AttemptId stray = AttemptId::make();
    units.hold_unknown_devices(stray, {3});

    EXPECT_EQ(units.allocate(order_for("gpu5", 1)).error().code, Errc::kTooMany);
    EXPECT_TRUE(units.allocate(order_for("cpu5", 19)));
    units.release(stray);
    EXPECT_TRUE(units.allocate(order_for("gpu5", 20)));
}

TEST(DeviceSupplies, NameTheJobsDevicesAndHideOthersWhateverItAsksFor)
{
    const AgentTables config = tables(kGolden);
    const UnitPlan plan = cut_units(machine(100, config, 100), config, {}).value();
    AttemptOrder order = order_for("npu5", 1);
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
    RunOrder run{order_for("cpu5", 1), {0, 1, 2, 3, 4}, 5, 0, {}};

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
    RunOrder with_npus{order_for("npu5", 1), {}, 1, 0, {}};
    RunOrder without{order_for("cpu5", 1), {0, 1, 2, 3, 4}, 5, 0, {}};

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
    RunOrder run{order_for("part", 3), {0, 1, 2}, 3, 0, {}};

    pass_devices(run, plan, plan[0], {0, 1, 2});

    const std::map<std::string, std::string> variables = environment_of(run);
    EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "GPU-0");
    EXPECT_EQ(variables.at("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "75");
    EXPECT_EQ(variables.at("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=61440M");
}

} // namespace
} // namespace fathom::agent
