#include "cli/simulate/draw.hpp"
#include "cli/simulate/engine.hpp"
#include "cli/simulate/order_policy.hpp"
#include "cli/simulate/outcome_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

SimulatedJob job(double arrival_s, std::vector<SimulatedOption> options)
{
    SimulatedJob one;
    one.arrival_s = arrival_s;
    one.options = std::move(options);
    return one;
}

SimulatedJob single(double arrival_s, double run_s)
{
    return job(arrival_s, {{0, 1, run_s, run_s}});
}

SimulatedWorld world(std::vector<SimulatedUnitType> types, std::vector<SimulatedJob> jobs)
{
    SimulatedWorld result{"test", std::move(types), std::move(jobs), 0, 0};
    result.end_counted = result.jobs.size();
    return result;
}

std::vector<double> start_times(const SimulationResult& result)
{
    std::vector<double> times;
    for (const JobOutcome& outcome : result.outcomes)
        times.push_back(outcome.start_s);
    return times;
}

StartRule first_come()
{
    return order_policy({.rule = OrderRule::kFirstCome});
}

// By hand: one unit. a runs 0–10; b (5 s) and c (1 s) wait; shortest first takes c at 10, b at 11; d comes at 12 and
// waits for b until 16.
TEST(Simulate, HandComputedSchedule)
{
    const SimulatedWorld one = world({{"unit", 1}}, {single(0, 10), single(1, 5), single(2, 1), single(12, 3)});

    const SimulationResult shortest = simulate(one, order_policy({.rule = OrderRule::kShortestFirst})).value();
    EXPECT_THAT(start_times(shortest), testing::ElementsAre(0, 11, 10, 16));
    EXPECT_DOUBLE_EQ(shortest.end_s, 19);
    EXPECT_EQ(shortest.most_waiting, 2);
    EXPECT_THAT(start_times(simulate(one, first_come()).value()), testing::ElementsAre(0, 10, 15, 16));

    const OutcomeSummary summary = summarize_outcomes(one, shortest);
    EXPECT_DOUBLE_EQ(summary.mean_completion_s, (10 + 15 + 9 + 7) / 4.0);
    EXPECT_DOUBLE_EQ(summary.longest_wait_s, 10);
    EXPECT_DOUBLE_EQ(summary.most_slowdown, 1.5) << "runs under 10 s count as 10 s";
    EXPECT_DOUBLE_EQ(summary.utilization, 1) << "busy from the first arrival to the last";
}

// Two unit types, jobs of several units: wide (2 units of type 0) waits until both are free at 8.
TEST(Simulate, JobsOfSeveralUnitsOnSeveralTypes)
{
    const SimulatedWorld two =
        world({{"slow", 2}, {"fast", 1}}, {job(0, {{0, 1, 8, 8}, {1, 1, 4, 4}}), job(0, {{0, 1, 8, 8}}),
                                           job(1, {{0, 2, 3, 3}}), job(2, {{1, 1, 1, 1}})});

    const SimulationResult result = simulate(two, first_come()).value();

    EXPECT_THAT(start_times(result), testing::ElementsAre(0, 0, 8, 4));
    EXPECT_EQ(result.outcomes[0].option, 1u);
}

// Theory: in M/M/1 with load r and mean run 1 the mean completion time is 1 / (1 − r), whatever the order is that does
// not look at run times. The interval: 20 batches, 99 %.
TEST(Simulate, AgreesWithTheQueueOfOneServer)
{
    const double load = 0.7;
    Draw draw(5);
    std::vector<SimulatedJob> jobs;
    double now_s = 0;
    for (int i = 0; i < 220'000; ++i) {
        now_s += draw.exponential(1 / load);
        jobs.push_back(single(now_s, std::max(draw.exponential(1), 1e-12)));
    }
    SimulatedWorld queue = world({{"unit", 1}}, std::move(jobs));
    const SimulationResult result = simulate(queue, first_come()).value();

    constexpr std::size_t kBatch = 10'000;
    std::vector<double> means;
    for (std::size_t begin = 20'000; begin < queue.jobs.size(); begin += kBatch) {
        double sum_s = 0;
        for (std::size_t i = begin; i < begin + kBatch; ++i)
            sum_s += result.outcomes[i].end_s - queue.jobs[i].arrival_s;
        means.push_back(sum_s / kBatch);
    }
    double mean_s = 0;
    for (const double one : means)
        mean_s += one / static_cast<double>(means.size());
    double variance = 0;
    for (const double one : means)
        variance += (one - mean_s) * (one - mean_s) / static_cast<double>(means.size() - 1);
    const double half_width_s = 2.861 * std::sqrt(variance / static_cast<double>(means.size())); // t, 19 degrees
    EXPECT_NEAR(mean_s, 1 / (1 - load), half_width_s);
    EXPECT_LT(half_width_s, 0.2);
    EXPECT_NEAR(summarize_outcomes(queue, result).utilization, load, 0.01);
}

TEST(Simulate, IsTheSameEachTime)
{
    Draw draw(3);
    std::vector<SimulatedJob> jobs;
    for (int i = 0; i < 500; ++i)
        jobs.push_back(job(i, {{0, 1, draw.exponential(4) + 0.1, 3}, {1, 1, draw.exponential(3) + 0.1, 2}}));
    const SimulatedWorld one = world({{"a", 2}, {"b", 2}}, std::move(jobs));

    EXPECT_EQ(start_times(simulate(one, order_policy({})).value()),
              start_times(simulate(one, order_policy({})).value()));
}

TEST(Simulate, TheRuleIsToldPredictionsAndNotTheTruth)
{
    const SimulatedWorld one = world({{"unit", 1}}, {single(0, 5), job(1, {{0, 1, 100, 1}}), job(1, {{0, 1, 1, 100}})});

    EXPECT_THAT(start_times(simulate(one, order_policy({.rule = OrderRule::kShortestFirst})).value()),
                testing::ElementsAre(0, 5, 105));
}

TEST(Simulate, RefusesARuleThatUsesUnitsTwice)
{
    const SimulatedWorld one = world({{"unit", 1}}, {single(0, 5), single(0, 5)});
    const auto error_of = [&](const std::vector<OrderedStart>& starts) {
        return simulate(one, [&](const SimulatedQueue&) { return starts; }).error();
    };

    EXPECT_EQ(error_of({{0, 0}, {1, 0}}).code, Errc::kInternal);
    EXPECT_EQ(error_of({{0, 0}, {0, 0}}).code, Errc::kInternal);
    EXPECT_EQ(error_of({{2, 0}}).code, Errc::kInternal);
    EXPECT_EQ(error_of({{0, 1}}).code, Errc::kInternal);
    EXPECT_EQ(error_of({}).code, Errc::kInternal) << "jobs wait for ever";
}

TEST(Simulate, RefusesWorldsThatMakeNoSense)
{
    const StartRule rule = first_come();
    EXPECT_EQ(simulate(world({{"unit", 1}}, {}), rule).error().code, Errc::kInvalid);
    EXPECT_EQ(simulate(world({{"unit", 1}}, {single(5, 1), single(4, 1)}), rule).error().code, Errc::kInvalid);
    EXPECT_EQ(simulate(world({{"unit", 1}}, {single(0, 0)}), rule).error().code, Errc::kInvalid);
    EXPECT_EQ(simulate(world({{"unit", 1}}, {single(0, NAN)}), rule).error().code, Errc::kInvalid);
    EXPECT_EQ(simulate(world({{"unit", 1}}, {job(0, {{0, 2, 1, 1}})}), rule).error().code, Errc::kInvalid);
    EXPECT_EQ(simulate(world({{"unit", 1}}, {job(0, {{1, 1, 1, 1}})}), rule).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom
