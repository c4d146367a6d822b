#include "core/decide/corun/kernel_times.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace fathom {
namespace {

/// A program of kind "solve" with one kernel.
void end_one(KernelTimes& times, std::optional<double> input_size, double mean_s)
{
    const std::vector<KernelTime> kernels{{.kernel = "stencil", .mean_s = mean_s}};
    times.learn("solve", input_size, kernels);
}

TEST(KernelTimes, AreLearnedByTheSizeOfTheInput)
{
    KernelTimes times;
    EXPECT_FALSE(times.expect("solve", 100, "stencil"));
    for (int round = 0; round < 4; ++round) {
        end_one(times, 100, 1e-5);
        end_one(times, 400, 4e-5);
        end_one(times, 1600, 1.6e-4);
    }

    const std::optional<ExpectedKernelTime> larger = times.expect("solve", 6400, "stencil");

    ASSERT_TRUE(larger);
    EXPECT_NEAR(larger->likely_s, 6.4e-4, 0.02e-4) << "in proportion to the size";
    EXPECT_LT(larger->low_s, larger->likely_s);
    EXPECT_GT(larger->high_s, larger->likely_s);
    EXPECT_EQ(larger->runs, 12);
    ASSERT_TRUE(larger->mean_error);
    EXPECT_LT(*larger->mean_error, 0.5);
}

TEST(KernelTimes, TellHowFarOffTheyWere)
{
    KernelTimes times;
    end_one(times, std::nullopt, 1e-3);
    EXPECT_FALSE(times.expect("solve", std::nullopt, "stencil")->mean_error) << "of nobody anything was expected";

    end_one(times, std::nullopt, 2e-3);

    EXPECT_NEAR(times.expect("solve", std::nullopt, "stencil")->mean_error.value_or(0), 0.5, 0.01)
        << "half of what it took";
}

TEST(KernelTimes, OfProgramsThatDoNotTellTheirSizeAreApart)
{
    KernelTimes times;
    end_one(times, std::nullopt, 1e-3);

    EXPECT_FALSE(times.expect("solve", 1, "stencil"));
    EXPECT_TRUE(times.expect("solve", std::nullopt, "stencil"));
    EXPECT_FALSE(times.expect("render", std::nullopt, "stencil")) << "another kind";
    EXPECT_FALSE(times.expect("solve", std::nullopt, "halo")) << "another kernel";
}

TEST(KernelTimes, OfTooManyKernelsBeginAnew)
{
    KernelTimes times;
    std::vector<KernelTime> kernels;
    for (std::size_t i = 0; i <= KernelTimes::kMaxKernels; ++i)
        kernels.push_back({.kernel = "kernel " + std::to_string(i), .mean_s = 1e-3});

    times.learn("solve", std::nullopt, kernels);

    EXPECT_FALSE(times.expect("solve", std::nullopt, "kernel 0"));
    EXPECT_TRUE(times.expect("solve", std::nullopt, kernels.back().kernel));
}

TEST(KernelTimes, WhatTakesNoTimeTeachesNothing)
{
    KernelTimes times;
    end_one(times, 100, 0);

    EXPECT_FALSE(times.expect("solve", 100, "stencil"));
}

} // namespace
} // namespace fathom
