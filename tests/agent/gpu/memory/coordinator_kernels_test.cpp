// What the memory manager keeps of what programs tell of their kernels.
#include "tests/agent/gpu/memory/one_gpu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::gpu {
namespace {

Message told(std::uint32_t number, std::int64_t launches, std::int64_t each_ns)
{
    return message_of({.number = number,
                       .name = "kernel-" + std::to_string(number),
                       .shape = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 0},
                       .need = {.registers = 48, .static_shared_bytes = 256},
                       .launches = launches,
                       .timed = 2,
                       .least_ns = each_ns,
                       .all_ns = 2 * each_ns});
}

std::vector<KernelUse> kernels(const Coordinator& all, std::size_t program = 0)
{
    return all.report().gpus.at(0).jobs.at(program).kernels;
}

TEST(GpuCoordinatorKernels, AreReportedWithTheirTimesTheLongestFirst)
{
    Coordinator all = coordinator();
    join(all, 1, 0, 0);
    all.receive(1, told(0, 100, 1'000), 1);
    all.receive(1, told(7, 10, 1'000'000), 1);
    all.receive(1, told(0, 200, 3'000), 2);

    const std::vector<KernelUse> known = kernels(all);

    ASSERT_EQ(known.size(), 2U) << "what is told last of one replaces what was told before";
    EXPECT_EQ(known[0].name, "kernel-7");
    EXPECT_DOUBLE_EQ(known[0].mean_s, 0.001);
    EXPECT_EQ(known[1].launches, 200);
    EXPECT_EQ(known[1].registers, 48);
    EXPECT_EQ(known[1].static_shared_bytes, 256);
    EXPECT_DOUBLE_EQ(known[1].least_s, 3e-6);
    EXPECT_EQ(known[1].grid, (std::array<std::int64_t, 3>{2, 1, 1}));
}

TEST(GpuCoordinatorKernels, OfManyThoseAreKeptThatTakeLongest)
{
    Coordinator all = coordinator();
    join(all, 1, 0, 0);
    for (std::uint32_t number = 0; number < kMaxKernelNumbers; ++number)
        all.receive(1, told(number, 10, 1'000 + number), 1);
    all.receive(1, told(0, 10, 900), 2);

    const std::vector<KernelUse> known = kernels(all);

    ASSERT_EQ(known.size(), kMaxKernelsOfProgram);
    EXPECT_EQ(known.front().name, "kernel-255");
    EXPECT_EQ(known.back().name, "kernel-248");
}

TEST(GpuCoordinatorKernels, OfManyProgramsNoMoreAreReportedThanTheMetaschedulerTakes)
{
    CoordinatorSettings settings;
    settings.gpus = {{kGpu, 64 * kMiB}, {"GPU-2", 64 * kMiB}};
    settings.gap_bytes = 0;
    settings.settle_s = 0;
    Coordinator all = Coordinator::make(settings, 0).value();
    for (ClientId id = 1; id <= kMaxSharedGpuJobs; ++id) {
        join(all, id, 0, 0);
        all.receive(id, with_text({.type = MessageType::kUseGpu}, "GPU-2"), 0);
        for (std::uint32_t number = 0; number < kMaxKernelsOfProgram; ++number)
            all.receive(id, told(number, 10, 1'000), 1);
    }

    std::size_t count = 0;
    for (const SharedGpu& gpu : all.report().gpus) {
        for (const SharedGpuJob& job : gpu.jobs)
            count += job.kernels.size();
    }

    EXPECT_EQ(count, kMaxReportedKernels);
}

Message input_of(double size)
{
    return {.type = MessageType::kInputSize, .first = std::bit_cast<std::int64_t>(size)};
}

/// It says what it is called, and with `size` above 0 how large its input is.
void join_kind(Coordinator& all, ClientId id, const std::string& kind, double size)
{
    all.connect(id, 100 + static_cast<std::int64_t>(id));
    all.receive(id, with_text({.type = MessageType::kHello, .second = 1000}, "job-" + std::to_string(id)), 0);
    all.receive(id, with_text({.type = MessageType::kKind}, kind), 0);
    if (size > 0) all.receive(id, input_of(size), 0);
    all.receive(id, use_gpu(0, 0), 0);
}

TEST(GpuCoordinatorKernels, HowLongTheyTakeIsLearnedFromProgramsOfTheirKindThatEnded)
{
    Coordinator all = coordinator();
    for (const auto& [size, each_ns] : {std::pair(100.0, 10'000), std::pair(200.0, 20'000), std::pair(400.0, 40'000)}) {
        join_kind(all, 1, "solver", size);
        all.receive(1, told(3, 500, each_ns), 1);
        EXPECT_EQ(all.report().gpus.at(0).jobs.at(0).input_size, size);
        all.disconnect(1, 2);
    }
    join_kind(all, 1, "solver", 800);
    join_kind(all, 2, "solver", 0);
    join_kind(all, 3, "other", 800);
    for (ClientId id = 1; id <= 3; ++id)
        all.receive(id, told(3, 2, 10'000), 3);

    const std::optional<ExpectedKernelTime> expected = kernels(all).at(0).expected;

    ASSERT_TRUE(expected);
    EXPECT_NEAR(expected->likely_s, 8e-5, 0.2e-5) << "twice that of half the input";
    EXPECT_EQ(expected->runs, 3);
    EXPECT_TRUE(expected->mean_error);
    EXPECT_FALSE(kernels(all, 1).at(0).expected) << "it does not tell how large its input is";
    EXPECT_FALSE(kernels(all, 2).at(0).expected) << "none of its kind has ended";
}

TEST(GpuCoordinatorKernels, ASizeThatIsNoneChangesNothing)
{
    Coordinator all = coordinator();
    join(all, 1, 0, 0);
    for (const double size : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
        all.receive(1, input_of(size), 1);

    const SharedGpuJob job = all.report().gpus.at(0).jobs.at(0);

    EXPECT_FALSE(job.input_size);
    EXPECT_EQ(job.wrong_messages, 4);
}

TEST(GpuCoordinatorKernels, WhatMakesNoSenseChangesNothing)
{
    Coordinator all = coordinator();
    join(all, 1, 0, 0);
    Message wrong = told(1, 10, 1'000);
    wrong.second = 11;
    all.receive(1, wrong, 1);
    all.receive(1,
                message_of({.number = 1,
                            .name = "\xff\xfe",
                            .shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 0},
                            .launches = 1}),
                1);

    EXPECT_TRUE(kernels(all).empty());
    EXPECT_EQ(all.report().gpus.at(0).jobs.at(0).wrong_messages, 2) << "a name is to be text";
}

} // namespace
} // namespace fathom::gpu
