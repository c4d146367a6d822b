// What the memory manager keeps of what programs tell of their kernels.
#include "tests/agent/gpu/memory/one_gpu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::gpu {
namespace {

Message told(std::uint32_t number, std::int64_t launches, std::int64_t each_ns)
{
    return message_of({.number = number,
                       .name = "kernel-" + std::to_string(number),
                       .shape = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 0},
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
