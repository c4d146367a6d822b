#include "core/decide/corun/preemption.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// The figures of the specification, literally.
TEST(Preemption, GoldenCost)
{
    EXPECT_NEAR(preempt_cycles(0.5, 32'768, 16'384, 64), 201'200.8, 0.05);
    EXPECT_NEAR(preempt_cycles(0, 32'768, 16'384, 64), 51'369.7, 0.05);
}

TEST(Preemption, TheCostGrowsWithWhatTheVictimHoldsAndWithTheSurvivorsMisses)
{
    const double base = preempt_cycles(0.2, 1000, 500, 10);

    EXPECT_DOUBLE_EQ(base, (0.09526 * 0.2 + 0.01633) * 1500 * 10);
    EXPECT_GT(preempt_cycles(0.3, 1000, 500, 10), base);
    EXPECT_DOUBLE_EQ(preempt_cycles(0.2, 2000, 1000, 10), 2 * base);
    EXPECT_DOUBLE_EQ(preempt_cycles(0.2, 1000, 500, 20), 2 * base);
    EXPECT_EQ(preempt_cycles(0.2, 0, 0, 10), 0);
}

TEST(Preemption, OnlyAComputeSurvivorKeepsItsSpeed)
{
    EXPECT_EQ(preempt_decay(KernelClass::kCompute, 0.83), 1);
    EXPECT_EQ(preempt_decay(KernelClass::kMemory, 0.83), 0.83);
    EXPECT_EQ(preempt_decay(KernelClass::kUnknown, 0.97), 0.97) << "of an unknown kernel the worse is assumed";
    EXPECT_EQ(kMemoryDecay, 0.90);
}

TEST(Preemption, WhatRestsIsWhatWasPredictedLessWhatIsDoneAtThePresentSpeed)
{
    RunningKernel kernel;
    kernel.instructions = 1e6;
    kernel.instructions_done = 4e5;
    kernel.ipc = 2;

    EXPECT_EQ(rest_cycles(kernel), 3e5);
    kernel.instructions_done = 2e6;
    EXPECT_EQ(rest_cycles(kernel), 0) << "it has done more than was predicted";
}

// n₁ = 0.5, n₂ = 0.4, n₁′ = 0.8, n₃′ = 0.7, decay 0.9, 1000 cycles of 10 000:
// before = 0.9 · 10 000 = 9000; after = 0.5 · 0.9 · 1000 + 1.5 · 9000 = 13 950.
TEST(Preemption, GainByTheFormula)
{
    const PreemptionFigures figures = weigh_preemption({.combined_now = 0.9,
                                                        .survivors_decayed = 0.5 * 0.9,
                                                        .combined_then = 1.5,
                                                        .preempt_cycles = 1000,
                                                        .rest_cycles = 10'000});

    EXPECT_DOUBLE_EQ(figures.before, 9000);
    EXPECT_DOUBLE_EQ(figures.after, 13'950);
    EXPECT_TRUE(figures.pays());
}

TEST(Preemption, NeverPaysWhenItTakesAsLongAsWaiting)
{
    const PreemptionTerms terms{
        .combined_now = 0.1, .survivors_decayed = 0.9, .combined_then = 2, .preempt_cycles = 5000, .rest_cycles = 5000};

    EXPECT_GT(weigh_preemption(terms).after, weigh_preemption(terms).before);
    EXPECT_FALSE(weigh_preemption(terms).pays());
}

TEST(Preemption, EqualWorkIsNoGain)
{
    EXPECT_FALSE(
        weigh_preemption(
            {.combined_now = 1, .survivors_decayed = 0, .combined_then = 1, .preempt_cycles = 0, .rest_cycles = 100})
            .pays());
}

} // namespace
} // namespace fathom
