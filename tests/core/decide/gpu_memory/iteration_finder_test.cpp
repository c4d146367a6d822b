#include "core/decide/gpu_memory/iteration_finder.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fathom::gpu {
namespace {

struct Step {
    std::uint64_t event{};
    std::int64_t live_bytes{};
};

/// A training step: forward over layers, backward over them, the optimizer. Activations are there in between.
std::vector<Step> training_step(int layers)
{
    std::vector<Step> steps;
    for (int layer = 0; layer < layers; ++layer) {
        steps.push_back({1, 1000 + 10 * (layer + 1)});
        steps.push_back({2, 1000 + 10 * (layer + 1)});
    }
    for (int layer = layers; layer-- > 0;) {
        steps.push_back({3, 1000 + 10 * (layer + 1)});
        steps.push_back({4, 1000 + 10 * layer});
    }
    steps.push_back({5, 1000});
    return steps;
}

TEST(GpuIterationFinder, FindsATrainingStepAroundTheLoopOverItsLayers)
{
    IterationFinder finder;
    const std::vector<Step> step = training_step(12);
    std::size_t ends = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
        for (const Step& one : step)
            ends += finder.add(one.event, one.live_bytes) ? 1 : 0;
    }

    EXPECT_EQ(finder.period(), step.size());
    EXPECT_GT(ends, 40U);
    EXPECT_GT(finder.confidence(), 0.7);
}

TEST(GpuIterationFinder, AnIterationEndsWhereTheLeastIsAllocated)
{
    IterationFinder finder;
    const std::vector<Step> step = training_step(3);
    for (int iteration = 0; iteration < 20; ++iteration) {
        for (std::size_t i = 0; i < step.size(); ++i) {
            const bool ended = finder.add(step[i].event, step[i].live_bytes);
            if (iteration < 10) continue;
            EXPECT_EQ(ended, i == step.size() - 2) << "iteration " << iteration << ", event " << i;
        }
    }
}

TEST(GpuIterationFinder, AnEvaluationInBetweenIsNoIterationAndTrainingIsFoundAgain)
{
    IterationFinder finder;
    const std::vector<Step> step = training_step(6);
    for (int iteration = 0; iteration < 20; ++iteration) {
        for (const Step& one : step)
            (void)finder.add(one.event, one.live_bytes);
    }
    ASSERT_EQ(finder.period(), step.size());

    for (int sample = 0; sample < 7; ++sample)
        (void)finder.add(100 + static_cast<std::uint64_t>(sample), 1000);
    EXPECT_EQ(finder.period(), 0U);
    EXPECT_EQ(finder.confidence(), 0);

    for (int iteration = 0; iteration < 60; ++iteration) {
        for (const Step& one : step)
            (void)finder.add(one.event, one.live_bytes);
    }
    EXPECT_EQ(finder.period(), step.size());
}

TEST(GpuIterationFinder, FindsNothingInWhatDoesNotRepeat)
{
    IterationFinder finder({.most_events = 256});
    std::mt19937_64 random(7);
    for (int i = 0; i < 100'000; ++i)
        ASSERT_FALSE(finder.add(random() % 1'000'000, 0));
    EXPECT_EQ(finder.period(), 0U);
}

TEST(GpuIterationFinder, AnIterationLongerThanItsMemoryIsNotFound)
{
    IterationFinder finder({.most_events = 16});
    for (int iteration = 0; iteration < 20; ++iteration) {
        for (std::uint64_t event = 0; event < 17; ++event)
            ASSERT_FALSE(finder.add(event, 0));
    }
    EXPECT_EQ(finder.period(), 0U);
}

} // namespace
} // namespace fathom::gpu
