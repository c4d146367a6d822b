#include "tests/simulator/knowledge/known.hpp"

#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

TEST(KnownIntervals, AnEstimateHasTheIntervalOfWhatItsUserTookOfEarlierOnes)
{
    KnowledgeSettings settings = exact();
    settings.trusts_estimates = true;
    Scenario scenario = scenario_of(201, settings);
    for (std::size_t job = 0; job < 201; ++job) {
        scenario.workload.jobs[job].estimate_s = 500;
        scenario.workload.jobs[job].work = 25 + 45 * static_cast<double>(job % 10); // a twentieth to nine tenths of it
    }
    Known known(KnowledgeKind::kMeasured, std::move(scenario));
    const RunTime before = known->expected_run(200, 0, 1);
    EXPECT_EQ(before.low_s, before.run_s);
    EXPECT_EQ(before.high_s, before.run_s);
    for (std::size_t job = 0; job < 200; ++job) {
        const double now_s = 600.0 * static_cast<double>(job + 1);
        known.run(job, 0, 1, now_s);
        known->advance(now_s);
    }

    const RunTime run = known->expected_run(200, 0, 1);
    EXPECT_EQ(run.run_s, known->expected_s(200, 0, 1));
    EXPECT_LT(run.low_s, 0.6 * run.run_s);
    EXPECT_GT(run.high_s, 1.15 * run.run_s);
    const RunTime faster = known->expected_run(200, 1, 1);
    EXPECT_DOUBLE_EQ(faster.high_s / faster.run_s, run.high_s / run.run_s);
}

TEST(KnownIntervals, FourFifthsOfJobsTakeWhatTheIntervalSays)
{
    KnowledgeSettings settings = exact();
    settings.job_noise = 0.2;
    Known known(KnowledgeKind::kMeasured, scenario_of(5000, settings));
    const auto within = [&] {
        int count = 0;
        for (std::size_t job = 0; job < 5000; ++job) {
            const RunTime run = known->expected_run(job, 0, 1);
            count += run.low_s <= 100 && 100 <= run.high_s ? 1 : 0;
        }
        return count / 5000.0;
    };
    EXPECT_NEAR(within(), 0.8, 0.02);

    for (std::size_t job = 0; job < 200; ++job) {
        known.run(job, 0, 1, 600.0 * static_cast<double>(job + 1));
        known->advance(600.0 * static_cast<double>(job + 1));
    }
    EXPECT_NEAR(within(), 0.8, 0.05) << "as it was learned";
}

TEST(KnownIntervals, WithoutErrorsTheIntervalIsAPoint)
{
    Known known(KnowledgeKind::kMeasured, scenario_of(1, exact()));
    const RunTime run = known->expected_run(0, 1, 1);
    EXPECT_EQ(run.low_s, run.run_s);
    EXPECT_EQ(run.high_s, run.run_s);
}

} // namespace
} // namespace fathom::simulation
