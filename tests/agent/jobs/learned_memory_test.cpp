#include "agent/jobs/unit_allocator.hpp"
#include "tests/agent/support/described_devices.hpp"

#include <gmock/gmock.h>

/// What earlier runs had of a GPU's memory, where a job says nothing of it.
namespace fathom::agent {
namespace {

using testing::ElementsAre;

AttemptOrder one_part()
{
    AttemptOrder order = test::shell_order("true");
    order.unit_type = "part";
    order.unit_count = 1;
    return order;
}

TEST(LearnedMemory, ChoosesTheGpuOfAJobThatSaysNothing)
{
    constexpr std::int64_t kSixteenPieces = 16 * kGpuPieceBytes;
    UnitAllocator units(test::parts_of_two());
    ASSERT_THAT(units.allocate(one_part()).value().units, ElementsAre(0));
    GpuMemoryReport report;
    report.gpus.push_back(
        {.gpu = "GPU-0", .capacity_bytes = kSixteenPieces, .persistent_bytes = 14 * kGpuPieceBytes}); // 2 are free
    report.gpus.push_back({.gpu = "GPU-1", .capacity_bytes = kSixteenPieces});
    units.know_gpus(report);
    AttemptOrder learned = one_part();
    learned.environment["FATHOM_GPU_LEARNED_PERSISTENT_BYTES"] = std::to_string(4 * kGpuPieceBytes);
    learned.environment["FATHOM_GPU_LEARNED_TEMPORARY_BYTES"] = "0";
    AttemptOrder said = one_part();
    said.environment = learned.environment;
    said.environment["FATHOM_GPU_PERSISTENT_BYTES"] = std::to_string(kGpuPieceBytes);

    EXPECT_THAT(units.allocate(learned).value().units, ElementsAre(4));
    EXPECT_THAT(units.allocate(said).value().units, ElementsAre(1)) << "what a job says counts: it fits on both";
}

} // namespace
} // namespace fathom::agent
