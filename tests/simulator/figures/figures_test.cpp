#include "simulator/figures/confidence.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fathom::simulation {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

UnitType unit_type(std::size_t center, std::int64_t units, std::vector<double> rates)
{
    UnitType type;
    type.center = center;
    type.unit_count = units;
    for (const double rate : rates)
        type.rates.push_back({rate, {}});
    return type;
}

/// Two centers: two units of rate 1, and one of rate 2 that draws 360 W without work.
Scenario two_centers(std::vector<Job> jobs)
{
    Scenario scenario;
    scenario.network.job_types = {{"any", Scaling::kFixed}};
    scenario.network.centers.resize(2);
    scenario.network.unit_types = {unit_type(0, 2, {1}), unit_type(1, 1, {2})};
    scenario.network.unit_types[1].idle_power_w = 360;
    scenario.workload.projects = {"physics", "biology"};
    scenario.workload.jobs = std::move(jobs);
    scenario.workload.end_counted = scenario.workload.jobs.size();
    return scenario;
}

Job job(double arrival_s, double work, std::uint32_t project = 0)
{
    Job one;
    one.arrival_s = arrival_s;
    one.work = work;
    one.project = project;
    return one;
}

JobOutcome ended(double start_s, double end_s, std::uint32_t unit_type = 0)
{
    JobOutcome outcome;
    outcome.start_s = start_s;
    outcome.end_s = end_s;
    outcome.unit_type = unit_type;
    outcome.unit_count = 1;
    outcome.attempts = 1;
    outcome.state = JobState::kEnded;
    return outcome;
}

JobOutcome not_ended(JobState state)
{
    JobOutcome outcome;
    outcome.state = state;
    return outcome;
}

PolicyRun run_of(const Scenario& scenario, std::vector<JobOutcome> outcomes)
{
    SimulationResult result;
    result.jobs = std::move(outcomes);
    result.busy_unit_s.assign(scenario.network.unit_types.size(), 0);
    result.broken_unit_s.assign(scenario.network.unit_types.size(), 0);
    return figure_out(scenario, "any", 1, std::move(result));
}

TEST(Figures, TimesAreFromArrivalOn)
{
    // Completions 10, 20, 30, 60; waits 0, 5, 10, 40.
    const Scenario scenario = two_centers({job(0, 10), job(10, 15), job(20, 20), job(30, 20)});
    const Figures all = run_of(scenario, {ended(0, 10), ended(15, 30), ended(30, 50), ended(70, 90)}).all;

    EXPECT_EQ(all.jobs, 4);
    EXPECT_EQ(all.ended, 4);
    EXPECT_DOUBLE_EQ(all.mean_completion_s, 30);
    EXPECT_DOUBLE_EQ(all.median_completion_s, 25);
    EXPECT_NEAR(all.p95_completion_s, 30 + 0.85 * 30, 1e-9); // 0.95 · 3 = 2.85: between the third and the fourth
    EXPECT_NEAR(all.p99_completion_s, 30 + 0.97 * 30, 1e-9);
    EXPECT_DOUBLE_EQ(all.mean_wait_s, 13.75);
    EXPECT_NEAR(all.p95_wait_s, 10 + 0.85 * 30, 1e-9);
    EXPECT_DOUBLE_EQ(all.max_wait_s, 40);
}

TEST(Figures, SlowdownIsOverTheShortestRunAnywhereButAtLeastTenSeconds)
{
    // 100 s of work take 50 s on the fast unit: 200 / 50; 4 s take 2, which count as 10: 20 / 10.
    const Scenario scenario = two_centers({job(0, 100), job(0, 4)});
    const Figures all = run_of(scenario, {ended(100, 200), ended(16, 20)}).all;

    EXPECT_DOUBLE_EQ(all.mean_slowdown, 3);
    EXPECT_DOUBLE_EQ(all.max_slowdown, 4);
    EXPECT_NEAR(all.p95_slowdown, 2 + 0.95 * 2, 1e-9);
}

TEST(Figures, AShortJobThatDoesNotWaitIsNotSlowedDown)
{
    // 4 s of work take 2 s: over ten it would be 0.2.
    const Scenario scenario = two_centers({job(0, 4)});

    EXPECT_DOUBLE_EQ(run_of(scenario, {ended(0, 2)}).all.mean_slowdown, 1);
}

TEST(Figures, JobsOfManyCountsAreHeldAgainstTheirBestCount)
{
    Scenario scenario = two_centers({job(0, 400)});
    scenario.network.job_types[0].scaling = Scaling::kTable;
    scenario.network.unit_types = {unit_type(0, 8, {1})};
    scenario.network.unit_types[0].rates[0].speedups = {
        {1, 1}, {4, 4}, {8, 2}}; // more than four are in each other's way
    scenario.workload.jobs[0].max_units = 8;

    EXPECT_DOUBLE_EQ(run_of(scenario, {ended(0, 200)}).all.mean_slowdown, 2);
}

TEST(Figures, OnlyCountedJobsTakePart)
{
    Scenario scenario = two_centers({job(0, 1000), job(10, 20), job(20, 1000)});
    scenario.workload.first_counted = 1;
    scenario.workload.end_counted = 2;
    const Figures all = run_of(scenario, {ended(0, 1000), ended(10, 30), not_ended(JobState::kUnfinished)}).all;

    EXPECT_EQ(all.jobs, 1);
    EXPECT_DOUBLE_EQ(all.mean_completion_s, 20);
}

TEST(Figures, JobsThatDidNotEndAreCountedAndPaid)
{
    const Scenario scenario = two_centers({job(0, 10), job(0, 10), job(0, 10)});
    JobOutcome running = not_ended(JobState::kUnfinished);
    running.attempts = 3;
    running.cost = 2;
    running.energy_j = 7.2e6;
    JobOutcome done = ended(0, 10);
    done.cost = 1;
    const Figures all = run_of(scenario, {done, running, not_ended(JobState::kImpossible)}).all;

    EXPECT_EQ(all.jobs, 3);
    EXPECT_EQ(all.ended, 1);
    EXPECT_EQ(all.unfinished, 1);
    EXPECT_EQ(all.impossible, 1);
    EXPECT_DOUBLE_EQ(all.mean_completion_s, 10);
    EXPECT_DOUBLE_EQ(all.cost, 3);
    EXPECT_DOUBLE_EQ(all.energy_kwh, 2);
    EXPECT_EQ(all.failed_attempts, 2);
}

TEST(Figures, DeadlinesAreMissedByWhatEndsLateOrNotAtAll)
{
    Scenario scenario = two_centers({job(100, 10), job(100, 10), job(100, 10), job(100, 10)});
    scenario.workload.details.push_back({});
    scenario.workload.details[1].deadline_in_s = 20;
    for (std::size_t i = 0; i < 3; ++i)
        scenario.workload.jobs[i].details = 1;
    const Figures all =
        run_of(scenario, {ended(110, 120), ended(111, 121), not_ended(JobState::kImpossible), ended(900, 910)}).all;

    EXPECT_EQ(all.with_deadline, 3);
    EXPECT_EQ(all.missed_deadline, 2);
}

TEST(Figures, OfAStoppedSimulationDeadlinesThatLieAheadAreNotMissed)
{
    Scenario scenario = two_centers({job(100, 10), job(100, 10), job(150, 10)});
    scenario.workload.details.push_back({});
    scenario.workload.details[1].deadline_in_s = 20;
    for (Job& one : scenario.workload.jobs)
        one.details = 1;
    SimulationResult result;
    result.jobs = {ended(100, 110), not_ended(JobState::kUnfinished), not_ended(JobState::kUnfinished)};
    result.busy_unit_s = {10, 0};
    result.broken_unit_s = {0, 0};
    result.counted_from_s = 100;
    result.counted_to_s = 150;
    result.end_s = 130;
    result.was_stopped = true;
    const Figures all = figure_out(scenario, "fathom", 1, std::move(result)).all;

    EXPECT_EQ(all.with_deadline, 2);
    EXPECT_EQ(all.missed_deadline, 1);
}

TEST(Figures, UtilizationIsOfUnitsInOrder)
{
    const Scenario scenario = two_centers({job(0, 100), job(100, 100)});
    SimulationResult result;
    result.jobs = {ended(0, 100), ended(100, 150, 1)};
    result.counted_to_s = 100;
    result.busy_unit_s = {90, 30};
    result.broken_unit_s = {20, 0};
    const PolicyRun run = figure_out(scenario, "any", 1, std::move(result));

    EXPECT_DOUBLE_EQ(run.all.utilization, 120.0 / (300 - 20));
    EXPECT_DOUBLE_EQ(run.by_center[0].utilization, 90.0 / 180);
    EXPECT_DOUBLE_EQ(run.by_center[1].utilization, 0.3);
    EXPECT_DOUBLE_EQ(run.all.idle_energy_kwh, 70 * 360 / 3.6e6);
    EXPECT_TRUE(std::isnan(run.by_center[1].idle_energy_kwh));
    EXPECT_TRUE(std::isnan(run.by_project[0].utilization));
}

TEST(Figures, JainsIndexOverProjectsAndJobs)
{
    // Shortest runs of 10 s. Slowdowns: physics 1 and 3, mean 2; biology 6.
    const Scenario scenario = two_centers({job(0, 20), job(0, 20), job(0, 20, 1)});
    const PolicyRun run = run_of(scenario, {ended(0, 10, 1), ended(10, 30), ended(40, 60)});

    EXPECT_DOUBLE_EQ(run.all.jain_projects, 8.0 * 8 / (2 * (4 + 36)));
    EXPECT_DOUBLE_EQ(run.all.jain_jobs, 10.0 * 10 / (3 * (1 + 9 + 36)));
    EXPECT_DOUBLE_EQ(run.by_project[1].jain_projects, 1);
}

TEST(Figures, FinishTimeFairnessIsAgainstAnEqualPartOfTheNetwork)
{
    // 120 s of work take (2 · 120 + 60) / 3 = 100 s on the mean unit. Alone its part is at least itself: 150 / 100.
    // With 6 units wanted on average of 3, an equal part takes 200 s: 190 / 200.
    const Scenario scenario = two_centers({job(0, 120), job(0, 120)});
    JobOutcome alone = ended(30, 150);
    alone.demand_unit_s = 150;
    JobOutcome crowded = ended(70, 190);
    crowded.demand_unit_s = 6 * 190;
    const Figures all = run_of(scenario, {alone, crowded}).all;

    EXPECT_DOUBLE_EQ(all.mean_finish_time_fairness, (1.5 + 0.95) / 2);
    EXPECT_NEAR(all.p95_finish_time_fairness, 0.95 + 0.95 * 0.55, 1e-9);
    EXPECT_DOUBLE_EQ(all.unfair_share, 0.5);
}

TEST(Figures, PredictionErrorIsTheMedianOfWhatWasPredicted)
{
    const Scenario scenario = two_centers({job(0, 10), job(0, 10), job(0, 10), job(0, 10)});
    std::vector<JobOutcome> outcomes(4, ended(10, 20));
    outcomes[0].predicted_s = 10;
    outcomes[1].predicted_s = 8;
    outcomes[2].predicted_s = 20; // errors 0, 0.25, 0.5; the last one was not predicted

    EXPECT_DOUBLE_EQ(run_of(scenario, outcomes).all.prediction_error, 0.25);
}

TEST(Figures, PartsAreOfTheirOwnJobs)
{
    const Scenario scenario = two_centers({job(0, 20), job(0, 40, 1), job(0, 60, 1)});
    const PolicyRun run = run_of(scenario, {ended(0, 20), ended(0, 40), ended(0, 30, 1)});

    ASSERT_EQ(run.by_project.size(), 2);
    EXPECT_EQ(run.by_project[1].jobs, 2);
    EXPECT_DOUBLE_EQ(run.by_project[1].mean_completion_s, 35);
    ASSERT_EQ(run.by_center.size(), 2);
    EXPECT_DOUBLE_EQ(run.by_center[0].mean_completion_s, 30);
    EXPECT_DOUBLE_EQ(run.by_center[1].mean_completion_s, 30);
    EXPECT_EQ(run.by_center[1].jobs, 1);
}

TEST(Figures, AreNotNumbersWithoutJobsThatEnded)
{
    const PolicyRun run = run_of(two_centers({job(0, 10)}), {not_ended(JobState::kUnfinished)});

    for (const double figure :
         {run.all.mean_completion_s, run.all.p99_completion_s, run.all.mean_wait_s, run.all.mean_slowdown,
          run.all.utilization, run.all.jain_projects, run.all.jain_jobs, run.all.mean_finish_time_fairness,
          run.all.unfair_share, run.all.prediction_error, run.by_center[0].max_wait_s})
        EXPECT_TRUE(std::isnan(figure));
    EXPECT_EQ(run.by_center[0].jobs, 0);
    EXPECT_EQ(run.all.cost, 0);
}

TEST(Confidence, StudentsIntervalOfTheMean)
{
    // Mean 2, standard deviation 1, t of two degrees of freedom 4.303: 4.303 / √3.
    const Confidence three = confidence({1, 2, 3});
    EXPECT_DOUBLE_EQ(three.mean, 2);
    EXPECT_NEAR(three.half_width, 4.302653 / std::sqrt(3.0), 1e-6);

    EXPECT_DOUBLE_EQ(confidence({5}).mean, 5);
    EXPECT_TRUE(std::isnan(confidence({5}).half_width));
    EXPECT_TRUE(std::isnan(confidence({}).mean));
    EXPECT_DOUBLE_EQ(confidence({1, kNothing, 2, 3}).half_width, three.half_width);
}

// The fast unit does half of the work, the slow ones a quarter each: all are in use for the same time.
TEST(LoadOf, IsTheLeastShareOfUnitTime)
{
    std::vector<Job> jobs;
    for (int i = 0; i < 31; ++i)
        jobs.push_back(job(i * 100, 120));
    // 31 · 120 s of work on units that do 4 s of it a second together, in 3000 s.
    EXPECT_NEAR(load_of(two_centers(jobs)), 31 * 120 / (3000.0 * 4), 0.005);
}

TEST(LoadOf, JobsGoWhereTheySuitTheWholeBest)
{
    Scenario scenario = two_centers({});
    scenario.network.job_types = {{"left", Scaling::kFixed}, {"right", Scaling::kFixed}};
    scenario.network.unit_types = {unit_type(0, 1, {10, 1}), unit_type(1, 1, {1, 10})};
    for (int i = 0; i <= 20; ++i) {
        Job one = job(i * 100, 500);
        one.job_type = static_cast<std::uint32_t>(i % 2);
        scenario.workload.jobs.push_back(one);
    }
    scenario.workload.end_counted = 20; // ten of each kind, 50 s at its own unit, in 1900 s
    EXPECT_NEAR(load_of(scenario), 10 * 50 / 1900.0, 0.005);
}

TEST(LoadOf, IsThatOfTheBusiestPartWhereJobsCannotShare)
{
    Scenario scenario = two_centers({job(0, 100), job(0, 300), job(1000, 0)});
    scenario.network.job_types = {{"left", Scaling::kFixed}, {"right", Scaling::kFixed}};
    scenario.network.unit_types = {unit_type(0, 1, {1, 0}), unit_type(1, 1, {0, 1})};
    scenario.workload.jobs[1].job_type = 1;
    EXPECT_NEAR(load_of(scenario), 0.3, 1e-9);
}

TEST(LoadOf, ThinnedKindsStandForAll)
{
    Scenario scenario = two_centers({});
    scenario.network.unit_types = {unit_type(0, 100000, {1})};
    double unit_s = 0;
    for (int i = 0; i < 12000; ++i) { // each of another count, so of another kind
        Job one = job(i, 10);
        one.unit_count = 1 + i * 7919 % 12000;
        unit_s += 10.0 * one.unit_count;
        scenario.workload.jobs.push_back(one);
    }
    scenario.workload.end_counted = scenario.workload.jobs.size();
    EXPECT_NEAR(load_of(scenario), unit_s / (11999.0 * 100000), 1e-6);
}

TEST(LoadOf, IsNotANumberWithoutTime)
{
    EXPECT_TRUE(std::isnan(load_of(two_centers({}))));
    EXPECT_TRUE(std::isnan(load_of(two_centers({job(0, 10), job(0, 10)}))));
}

} // namespace
} // namespace fathom::simulation
