#include "agent/gpu/kernel_message.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace fathom::gpu {
namespace {

KernelFigures sgemm()
{
    return {.number = 3,
            .name = "sgemm",
            .shape = {.grid = {128, 4, 1}, .block = {256, 1, 1}, .shared_bytes = 49'152},
            .need = {.registers = 40, .static_shared_bytes = 128},
            .launches = 1000,
            .timed = 9,
            .least_ns = 1'000,
            .all_ns = 18'000};
}

/// What the manager would take it for; empty: for nothing.
std::string name_in(const Message& message)
{
    const std::optional<KernelFigures> kernel = kernel_of(message);
    return kernel ? kernel->name : "";
}

TEST(GpuKernelMessage, TellsOfAKernelAsItWas)
{
    const std::optional<KernelFigures> told = kernel_of(message_of(sgemm()));

    ASSERT_TRUE(told);
    EXPECT_EQ(told->number, 3U);
    EXPECT_EQ(told->name, "sgemm");
    EXPECT_EQ(told->shape, sgemm().shape);
    EXPECT_EQ(told->need, sgemm().need);
    EXPECT_EQ(told->launches, 1000);
    EXPECT_EQ(told->timed, 9);
    EXPECT_EQ(told->least_ns, 1'000);
    EXPECT_DOUBLE_EQ(told->expected_ns(), 2'000'000) << "1000 launches of 2 us";
}

TEST(GpuKernelMessage, ALongNameIsCutBetweenCharacters)
{
    KernelFigures kernel = sgemm();
    kernel.name = std::string(kMaxKernelName, 'k') + "rest";
    EXPECT_EQ(name_in(message_of(kernel)), std::string(kMaxKernelName, 'k'));

    kernel.name = std::string(kMaxKernelName - 1, 'k') + "\u00e9"; // of two bytes
    EXPECT_EQ(name_in(message_of(kernel)), std::string(kMaxKernelName - 1, 'k'));
}

TEST(GpuKernelMessage, WhatNoProgramCouldSayIsTakenForNothing)
{
    const auto is_taken = [](auto change) {
        KernelFigures kernel = sgemm();
        change(kernel);
        return kernel_of(message_of(kernel)).has_value();
    };
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

    EXPECT_TRUE(is_taken([](KernelFigures&) {}));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.number = kMaxKernelNumbers; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.name.clear(); }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.shape.grid[2] = 0; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.shape.block[0] = 0; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.need.registers = 5000; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.need.static_shared_bytes = 1U << 30U; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.launches = 0; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.launches = kMost; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.timed = 1001; })) << "more than were launched";
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.timed = -1; }));
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.timed = 0; })) << "of none there are times";
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.least_ns = 18'001; })) << "the shortest is longer than all";
    EXPECT_FALSE(is_taken([](KernelFigures& one) { one.all_ns = kMost; }));
    Message unended = message_of(sgemm());
    for (std::size_t i = sizeof(KernelText) - kMaxKernelName - 1; i < unended.text.size(); ++i)
        unended.text[i] = 'k';
    EXPECT_FALSE(kernel_of(unended));
}

TEST(GpuKernelMessage, WhoTakesLongestComesFirst)
{
    const KernelFigures often = sgemm();
    KernelFigures untimed = sgemm();
    untimed.timed = untimed.least_ns = untimed.all_ns = 0;
    untimed.launches = 1'000'000;
    KernelFigures rare = untimed;
    rare.launches = 2;

    EXPECT_TRUE(takes_longer(often, untimed)) << "of which nothing is known";
    EXPECT_FALSE(takes_longer(untimed, often));
    EXPECT_TRUE(takes_longer(untimed, rare));
    EXPECT_FALSE(takes_longer(rare, rare));
}

} // namespace
} // namespace fathom::gpu
