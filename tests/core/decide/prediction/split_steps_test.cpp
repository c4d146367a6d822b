#include "core/decide/prediction/speedup.hpp"
#include "core/decide/prediction/split_steps.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace fathom {
namespace {

/// Steps that run one after the other; the last one comes first, as each reads the next.
std::vector<DeviceStep> chain(std::vector<DeviceStep> last_first)
{
    for (std::size_t i = 1; i < last_first.size(); ++i)
        last_first[i].reader = i - 1;
    return last_first;
}

std::string devices_of(const SplitAnswer& answer)
{
    std::string text;
    for (const PlacedStep& step : answer.steps)
        text += step.runs_on_gpu ? 'G' : 'C';
    return text;
}

TEST(SplitSteps, GoldenJoinOnGpusAfterAFilterOnCpus)
{
    // Spec 2's join on 100 Gb InfiniBand, after a filter whose whole way over the bus is not worth it.
    const std::vector<DeviceStep> steps = chain({{27.1111, 11.7049, 0, {}}, {11.3111, 61.4580, 8, {}}});

    const SplitAnswer answer = split_steps(steps, 1);

    EXPECT_NEAR(answer.cpu_s, 38.4222, 1e-9);
    EXPECT_NEAR(answer.gpu_s, 73.1629, 1e-9);
    EXPECT_FALSE(answer.whole_runs_on_gpu);
    EXPECT_TRUE(answer.runs_as_steps);
    EXPECT_EQ(devices_of(answer), "GC");
    EXPECT_NEAR(answer.total_s, 11.7049 + 8 + 11.3111, 1e-9);
    EXPECT_DOUBLE_EQ(answer.passing_s, 8);
}

TEST(SplitSteps, PassingThatCostsWhatTheStepsGainKeepsTheWholeTogether)
{
    // The steps gain 15.4062 s against the whole on CPUs.
    const auto with_passing = [](double passing_s) {
        return split_steps(chain({{27.1111, 11.7049, 0, {}}, {11.3111, 61.4580, passing_s, {}}}), 1);
    };

    EXPECT_TRUE(with_passing(15.4).runs_as_steps);
    const SplitAnswer answer = with_passing(15.41);
    EXPECT_FALSE(answer.runs_as_steps);
    EXPECT_EQ(devices_of(answer), "CC");
    EXPECT_NEAR(answer.total_s, 38.4222, 1e-9);
    EXPECT_DOUBLE_EQ(answer.passing_s, 0);
}

TEST(SplitSteps, AStepStaysWithItsNeighboursWhereTwoPassesCostMoreThanItGains)
{
    // The middle step alone is better on a CPU, by 3 s; there and back take 4 s.
    const SplitAnswer answer = split_steps(chain({{9, 1, 0, {}}, {2, 5, 2, {}}, {9, 1, 2, {}}}), 1);

    EXPECT_EQ(devices_of(answer), "GGG");
    EXPECT_FALSE(answer.runs_as_steps);
    EXPECT_DOUBLE_EQ(answer.total_s, 7);
}

TEST(SplitSteps, AThresholdKeepsStepsThatGainLessFromGpus)
{
    const std::vector<DeviceStep> steps = chain({{4, 1, 0, {}}, {1.9, 1, 0, {}}});

    EXPECT_EQ(devices_of(split_steps(steps, 1)), "GG");
    const SplitAnswer answer = split_steps(steps, 2);
    EXPECT_EQ(devices_of(answer), "GC") << "1.9 is not above 2";
    EXPECT_TRUE(answer.runs_as_steps);
    EXPECT_DOUBLE_EQ(answer.total_s, 2.9);
    EXPECT_EQ(devices_of(split_steps(steps, 4)), "CC");
}

TEST(SplitSteps, AStepThatOneKindCannotRunGoesToTheOther)
{
    constexpr double kNever_s = std::numeric_limits<double>::infinity();
    const SplitAnswer answer = split_steps(chain({{kNever_s, 1, 0, {}}, {5, kNever_s, 100, {}}}), 1);

    EXPECT_TRUE(answer.runs_as_steps);
    EXPECT_EQ(devices_of(answer), "GC");
    EXPECT_DOUBLE_EQ(answer.total_s, 106);
}

TEST(SplitSteps, NothingIsWhole)
{
    const SplitAnswer answer = split_steps({}, 1);

    EXPECT_FALSE(answer.runs_as_steps);
    EXPECT_DOUBLE_EQ(answer.total_s, 0);
}

std::vector<DeviceStep> some_steps()
{
    const auto count = *rc::gen::inRange<std::size_t>(1, 9);
    std::vector<DeviceStep> steps;
    for (std::size_t i = 0; i < count; ++i) {
        DeviceStep step{static_cast<double>(*rc::gen::inRange(1, 50)), static_cast<double>(*rc::gen::inRange(1, 50)),
                        static_cast<double>(*rc::gen::inRange(0, 30)), std::nullopt};
        // 0 is the result of the work, as is some other one now and then.
        if (i > 0 && *rc::gen::inRange(0, 8) > 0) step.reader = *rc::gen::inRange<std::size_t>(0, i);
        steps.push_back(step);
    }
    return steps;
}

/// What the steps cost with the GPUs that the bits name.
double cost_of(const std::vector<DeviceStep>& steps, unsigned gpus, double threshold)
{
    const auto is_on_gpu = [&](std::size_t i) { return ((gpus >> i) & 1U) != 0; };
    double cost = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        cost += is_on_gpu(i) ? threshold * steps[i].gpu_s : steps[i].cpu_s;
        if (steps[i].reader && is_on_gpu(i) != is_on_gpu(*steps[i].reader)) cost += steps[i].passing_s;
    }
    return cost;
}

RC_GTEST_PROP(SplitStepsProperty, NoOtherWayCostsLess, ())
{
    const std::vector<DeviceStep> steps = some_steps();
    const double threshold = *rc::gen::inRange(1, 4);

    const SplitAnswer answer = split_steps(steps, threshold);

    unsigned chosen = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
        chosen |= (answer.steps[i].runs_on_gpu ? 1U : 0U) << i;
    const double cost = cost_of(steps, chosen, threshold);
    for (unsigned gpus = 0; gpus < 1U << steps.size(); ++gpus)
        RC_ASSERT(cost <= cost_of(steps, gpus, threshold) + 1e-6);
    const unsigned all = (1U << steps.size()) - 1;
    RC_ASSERT(answer.runs_as_steps == (chosen != 0 && chosen != all));
    // All times are whole seconds here, so the steps' sum is as well.
    if (answer.runs_as_steps) RC_ASSERT(cost < std::min(cost_of(steps, 0, threshold), cost_of(steps, all, threshold)));
    if (threshold == 1) RC_ASSERT(std::abs(answer.total_s - cost) < 1e-6);
    RC_ASSERT(answer.total_s <= cost + 1e-6);
}

RC_GTEST_PROP(SplitStepsProperty, OfOneStepItIsS6, (int t))
{
    SpeedupQuestion question;
    question.operator_class = OperatorClass::kQuadratic;
    question.seconds_per_100mb = 0.001 + std::abs(t % 1000) * 0.001;
    question.input_gb = 1;
    question.machines = 100;
    question.network_gb = 1;
    question.gpu_parallelism = 64;
    question.threshold = *rc::gen::inRange(1, 5);
    const SpeedupAnswer alone = predict_speedup(question);

    const SplitAnswer answer =
        split_steps(std::vector<DeviceStep>{{alone.cpu_s, alone.gpu_s, 7, std::nullopt}}, question.threshold);

    RC_ASSERT(answer.whole_runs_on_gpu == alone.runs_on_gpu);
    RC_ASSERT(answer.steps[0].runs_on_gpu == alone.runs_on_gpu);
    RC_ASSERT(!answer.runs_as_steps);
}

} // namespace
} // namespace fathom
