#include "simulator/engine/network_state.hpp"
#include "simulator/engine/series_recorder.hpp"
#include "simulator/engine/simulation.hpp"
#include "simulator/figures/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>

namespace fathom::simulation {
namespace {

using ::testing::HasSubstr;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// One center, one unit type, jobs of one unit that come one after the other.
Scenario small_scenario(std::int64_t units, std::size_t jobs, double every_s, double run_s)
{
    Scenario scenario;
    scenario.network.job_types = {{"job", Scaling::kFixed}};
    scenario.network.centers.resize(1);
    scenario.network.centers[0].name = "alpha";
    UnitType type;
    type.name = "core";
    type.unit_count = units;
    type.rates = {{1, {}}};
    scenario.network.unit_types = {type};
    for (std::size_t i = 0; i < jobs; ++i) {
        Job job;
        job.arrival_s = every_s * static_cast<double>(i);
        job.work = run_s;
        scenario.workload.jobs.push_back(job);
    }
    scenario.workload.end_counted = jobs;
    scenario.knowledge = {.measurement_noise = 0, .job_noise = 0, .run_noise = 0, .report_every_s = 0};
    return scenario;
}

/// Starts jobs as they come on the first unit type with room, unless it would run into a closure.
class InTurn : public Policy {
  public:
    bool hands_over() const override { return false; }
    bool arrive(const PolicyView&, std::size_t job) override
    {
        waiting_.push_back(job);
        return true;
    }
    std::vector<PolicyStart> decide(const PolicyView& view) override
    {
        std::vector<PolicyStart> starts;
        std::int64_t free = view.reports[0].free_units;
        for (; free > 0 && !waiting_.empty(); --free, waiting_.pop_front()) {
            const double run_s = view.scenario->workload.jobs[waiting_.front()].work;
            if (run_s > open_for_s(view.scenario->network.centers[0], view.now_s)) break;
            starts.push_back({waiting_.front(), 0, 1, run_s});
        }
        return starts;
    }

  private:
    std::deque<std::size_t> waiting_;
};

SimulationResult run_in_turn(const Scenario& scenario, std::uint64_t seed = 1)
{
    return simulate(
               scenario, [](const Scenario&, Knowledge&, std::uint64_t) { return std::make_unique<InTurn>(); }, seed)
        .value();
}

TEST(UnitPool, SumsTimeWithinTheCountedSpanOnly)
{
    UnitPool pool(4, 10, 20);
    pool.take(7, 3, 5);
    EXPECT_EQ(pool.free_units(), 1);
    pool.break_one(12);
    EXPECT_EQ(pool.free_units(), 0);
    pool.give_back(7, 15);
    pool.repair_one(30);
    pool.pass(40);
    EXPECT_EQ(pool.busy_unit_s(), 3 * 5.0);   // 10 … 15
    EXPECT_EQ(pool.broken_unit_s(), 1 * 8.0); // 12 … 20
    EXPECT_EQ(pool.free_units(), 4);
}

TEST(UnitPool, ABusyUnitBelongsToOneJob)
{
    UnitPool pool(6, 0, 1);
    pool.take(3, 2, 0);
    pool.take(9, 1, 0);
    pool.take(4, 2, 0);
    std::vector<std::size_t> owners;
    for (std::int64_t unit = 0; unit < pool.busy_units(); ++unit)
        owners.push_back(pool.job_on(unit));
    EXPECT_EQ(std::count(owners.begin(), owners.end(), 3U), 2);
    EXPECT_EQ(std::count(owners.begin(), owners.end(), 9U), 1);
    EXPECT_EQ(std::count(owners.begin(), owners.end(), 4U), 2);
}

TEST(SeriesRecorder, ThinsALongSeriesEvenly)
{
    SeriesRecorder recorder;
    std::size_t noted = 0;
    for (int i = 0; i <= 1'000'000; ++i) {
        if (!recorder.wants(i)) continue;
        recorder.note({static_cast<double>(i), i, 0, {}});
        ++noted;
    }
    const std::vector<SeriesPoint> points = recorder.take();
    EXPECT_LE(points.size(), SeriesRecorder::kMaxPoints);
    EXPECT_GT(points.size(), SeriesRecorder::kMaxPoints / 4);
    EXPECT_LT(noted, 40'000U);
    double widest_s = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
        widest_s = std::max(widest_s, points[i].at_s - points[i - 1].at_s);
    EXPECT_LT(widest_s, 3 * 1e6 / static_cast<double>(points.size()));
}

TEST(Simulation, NothingStartsThatWouldRunIntoAClosure)
{
    Scenario scenario = small_scenario(1, 4, 0, 10);
    scenario.network.centers[0].closures = {{25, 60}};
    const SimulationResult result = run_in_turn(scenario);
    EXPECT_EQ(result.jobs[0].start_s, 0);
    EXPECT_EQ(result.jobs[1].start_s, 10);
    EXPECT_EQ(result.jobs[2].start_s, 60); // at 20 it would end at 30
    EXPECT_EQ(result.jobs[3].end_s, 80);
    EXPECT_EQ(open_for_s(scenario.network.centers[0], 30), 0);
    EXPECT_EQ(open_for_s(scenario.network.centers[0], 60), kNever);
}

TEST(Simulation, ABrokenUnitEndsItsJobWhichComesBack)
{
    Scenario scenario = small_scenario(8, 2000, 20, 100);
    scenario.network.unit_types[0].failures = {1000, 50};
    const SimulationResult result = run_in_turn(scenario);
    EXPECT_GT(result.failures, 100);
    std::int64_t attempts = 0;
    for (const JobOutcome& job : result.jobs) {
        EXPECT_EQ(job.state, JobState::kEnded);
        EXPECT_NEAR(job.end_s - job.start_s, 100, 1e-9 * (100));
        attempts += job.attempts;
    }
    EXPECT_EQ(attempts, 2000 + result.failures);
    EXPECT_EQ(result.starts, attempts);
    // A unit is out of order 50 of 1050 s on average, and a busy one breaks about once in 1000 s.
    const double span_s = result.counted_to_s - result.counted_from_s;
    EXPECT_NEAR(result.broken_unit_s[0] / (8 * span_s), 50.0 / 1050, 0.15 * (50.0 / 1050));
    EXPECT_NEAR(static_cast<double>(result.failures), result.busy_unit_s[0] / 1000,
                0.15 * result.busy_unit_s[0] / 1000);
    // The same breaks come whatever the seed is asked for again, others with another.
    EXPECT_EQ(run_in_turn(scenario).failures, result.failures);
    EXPECT_NE(run_in_turn(scenario, 2).broken_unit_s[0], result.broken_unit_s[0]);
}

TEST(Simulation, AUnitIsHeldWhileDataIsMoved)
{
    Scenario scenario = small_scenario(1, 1, 0, 100);
    scenario.network.centers[0].start_up_s = 5;
    scenario.network.centers[0].network_rate_bytes.fill(10);
    scenario.network.centers[0].network_rate_bytes[1] = 20; // the second hour
    JobDetails& details = scenario.workload.details.emplace_back();
    details.data_in_bytes = 40'000;
    details.data_out_bytes = 50;
    scenario.workload.jobs[0].details = 1;
    const SimulationResult result = run_in_turn(scenario);
    // From second 5 on: 3595 s at 10, then 4050 bytes at 20; back in the same hour.
    const double in_s = 3595 + (40'000 - 35'950) / 20.0;
    EXPECT_NEAR(result.jobs[0].end_s, 5 + in_s + 100 + 50 / 20.0, 1e-12 * (5 + in_s + 100 + 50 / 20.0));
    EXPECT_EQ(true_transfer_s(scenario.network.centers[0], 0, 0), 0);
}

// What began before the simulation closes the center from its beginning on, and what was over then never does.
TEST(Simulation, MaintenanceMayHaveBegunBefore)
{
    Scenario scenario = small_scenario(1, 1, 0, 10);
    scenario.network.centers[0].closures = {{-100, -50}, {-40, 30}};
    EXPECT_EQ(simulate(scenario, "first_come", 1).value().jobs[0].start_s, 30);
}

TEST(Simulation, AJobThatUnitsNeverHoldForIsGivenUp)
{
    Scenario scenario = small_scenario(1, 1, 0, 1000);
    scenario.network.unit_types[0].failures = {10, 0};
    const SimulationResult result = run_in_turn(scenario);
    EXPECT_EQ(result.jobs[0].state, JobState::kImpossible);
    EXPECT_EQ(result.jobs[0].attempts, 10'000);
    EXPECT_EQ(result.failures, 10'000);
    EXPECT_FALSE(result.was_stopped);
}

// One unit of two is busy all the time: also in the figures of a simulation that was stopped half way.
TEST(Simulation, FiguresOfAStoppedOneAreOfTheTimeUntilThen)
{
    const Scenario scenario = small_scenario(2, 100, 10, 10);
    std::atomic<bool> stop = false;
    class StopsAt500 final : public InTurn {
      public:
        explicit StopsAt500(std::atomic<bool>& stop) : stop_(&stop) {}
        std::vector<PolicyStart> decide(const PolicyView& view) override
        {
            if (view.now_s >= 500) *stop_ = true;
            return InTurn::decide(view);
        }

      private:
        std::atomic<bool>* stop_;
    };
    const auto make = [&](const Scenario&, Knowledge&, std::uint64_t) { return std::make_unique<StopsAt500>(stop); };
    const PolicyRun run =
        figure_out(scenario, "any", 1, simulate(scenario, make, 1, {.progress = {}, .stop = &stop}).value());
    EXPECT_TRUE(run.result.was_stopped);
    EXPECT_EQ(run.result.end_s, 500);
    EXPECT_EQ(run.all.ended, 50);
    EXPECT_EQ(run.all.unfinished, 50);
    EXPECT_NEAR(run.all.utilization, 0.5, 1e-12);
}

TEST(Simulation, WhoWaitsForEverIsTold)
{
    Scenario scenario = small_scenario(2, 1, 0, 10);
    class Never final : public Policy {
      public:
        bool hands_over() const override { return false; }
        bool arrive(const PolicyView&, std::size_t) override { return true; }
        std::vector<PolicyStart> decide(const PolicyView&) override { return {}; }
    };
    const auto make = [](const Scenario&, Knowledge&, std::uint64_t) { return std::make_unique<Never>(); };
    const auto result = simulate(scenario, make, 1);
    ASSERT_FALSE(result);
    EXPECT_THAT(describe(result.error()), HasSubstr("waiting for ever"));
    // Units that break and are repaired make no difference.
    scenario.network.unit_types[0].failures = {10, 1};
    EXPECT_FALSE(simulate(scenario, make, 1));
}

TEST(Simulation, RefusesAScenarioThatMakesNoSenseByName)
{
    const auto refusal = [](auto spoil) {
        Scenario scenario = small_scenario(2, 3, 1, 10);
        spoil(scenario);
        const auto result = simulate(scenario, "first_come", 1);
        return result ? std::string() : describe(result.error());
    };
    EXPECT_THAT(refusal([](auto& s) { s.workload.jobs[1].arrival_s = -1; }), HasSubstr("job 1 arrives before"));
    EXPECT_THAT(refusal([](auto& s) { s.workload.jobs[2].work = NAN; }), HasSubstr("job 2 has a run time"));
    EXPECT_THAT(refusal([](auto& s) { s.workload.jobs[0].unit_count = 0; }), HasSubstr("job 0 asks for no units"));
    EXPECT_THAT(refusal([](auto& s) { s.workload.jobs[0].project = 9; }), HasSubstr("not there"));
    EXPECT_THAT(refusal([](auto& s) { s.workload.end_counted = 4; }), HasSubstr("no jobs are counted"));
    EXPECT_THAT(refusal([](auto& s) { s.network.unit_types[0].rates.clear(); }), HasSubstr("core"));
    EXPECT_THAT(refusal([](auto& s) { s.network.centers[0].closures = {{5, 5}}; }), HasSubstr("alpha"));
    EXPECT_THAT(refusal([](auto& s) { s.knowledge.job_noise = -1; }), HasSubstr("negative"));
    EXPECT_EQ(refusal([](auto&) {}), "");
    EXPECT_EQ(refusal([](auto& s) { s.network.centers[0].closures = {{-9, -5}, {-5, 5}}; }), "") << "before it began";
}

} // namespace
} // namespace fathom::simulation
