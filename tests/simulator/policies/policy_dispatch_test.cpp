#include "simulator/policies/policy_dispatch.hpp"
#include "simulator/world/truth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace fathom::simulation {
namespace {

/// Unit types of 10, 30 and 60 units. Peaks: 2, 4, 1 TFLOPS; the benchmark puts the third first.
Scenario scenario_of(std::size_t jobs)
{
    Scenario scenario;
    scenario.network.job_types = {{"train", Scaling::kFixed}};
    scenario.network.centers.resize(1);
    scenario.network.centers[0].network_rate_bytes.fill(0);
    const auto unit_type = [](std::int64_t units, double peak_flops, double benchmark) {
        UnitType type;
        type.unit_count = units;
        type.rates = {{1, {}}};
        type.peak_flops = peak_flops;
        type.benchmark = benchmark;
        return type;
    };
    scenario.network.unit_types = {unit_type(10, 2e12, 7), unit_type(30, 4e12, 5), unit_type(60, 1e12, 9)};
    scenario.workload.jobs.assign(jobs, Job{.work = 100, .estimate_s = 100});
    scenario.workload.users = {"ann", "bob"};
    scenario.workload.end_counted = jobs;
    return scenario;
}

/// A policy with what it looks at.
class Dispatch {
  public:
    Dispatch(DispatchRule rule, Scenario scenario)
        : scenario_(std::move(scenario)), truth_(scenario_, 1),
          knowledge_(make_knowledge(KnowledgeKind::kNominal, scenario_, truth_, 1)),
          policy_(dispatch_policy(rule)(scenario_, *knowledge_, 1))
    {
        for (const UnitType& type : scenario_.network.unit_types)
            reports.push_back({.unit_count = type.unit_count, .free_units = type.unit_count});
    }
    Dispatch(const Dispatch&) = delete;
    Dispatch& operator=(const Dispatch&) = delete;

    PolicyStart start(std::size_t job, std::vector<std::uint32_t> unit_types = {0, 1, 2})
    {
        return policy_->choose({now_s, &scenario_, reports}, job, unit_types);
    }
    std::size_t choose(std::size_t job, std::vector<std::uint32_t> unit_types = {0, 1, 2})
    {
        return start(job, std::move(unit_types)).unit_type;
    }
    const Policy& policy() const { return *policy_; }

    double now_s = 0;
    std::vector<UnitTypeReport> reports;

  private:
    Scenario scenario_;
    Truth truth_;
    std::unique_ptr<Knowledge> knowledge_;
    std::unique_ptr<Policy> policy_;
};

TEST(DispatchPolicy, RandomGivesEachUnitTheSameChance)
{
    Dispatch dispatch(DispatchRule::kRandom, scenario_of(10000));
    std::array<int, 3> counts{};
    for (std::size_t job = 0; job < 10000; ++job)
        ++counts[dispatch.choose(job)];
    EXPECT_NEAR(counts[0], 1000, 100);
    EXPECT_NEAR(counts[1], 3000, 150);
    EXPECT_NEAR(counts[2], 6000, 150);
    for (std::size_t job = 0; job < 100; ++job)
        EXPECT_NE(dispatch.choose(job, {0, 2}), 1U);
}

TEST(DispatchPolicy, RandomDrawsAgainWhenAJobComesBack)
{
    Dispatch dispatch(DispatchRule::kRandom, scenario_of(1));
    std::map<std::size_t, int> counts;
    for (dispatch.now_s = 0; dispatch.now_s < 100; ++dispatch.now_s)
        ++counts[dispatch.choose(0)];
    EXPECT_EQ(counts.size(), 3U);
}

TEST(DispatchPolicy, RoundRobinUsesEachUnitAsOftenAndSpreadsThem)
{
    Dispatch dispatch(DispatchRule::kRoundRobin, scenario_of(1));
    std::vector<std::size_t> chosen;
    for (int turn = 0; turn < 10; ++turn)
        chosen.push_back(dispatch.choose(0));
    EXPECT_THAT(chosen, testing::ElementsAre(2, 1, 2, 0, 2, 1, 2, 2, 1, 2));
}

TEST(DispatchPolicy, LeastLoadedCountsWhatRunsAndWaits)
{
    Dispatch dispatch(DispatchRule::kLeastLoaded, scenario_of(1));
    dispatch.reports[0] = {.unit_count = 10, .free_units = 5};                                       // 50 %
    dispatch.reports[1] = {.unit_count = 30, .free_units = 20, .queued_jobs = 1, .queued_units = 9}; // 63 %
    dispatch.reports[2] = {.unit_count = 60, .free_units = 12};                                      // 80 %
    EXPECT_EQ(dispatch.choose(0), 0U);
    EXPECT_EQ(dispatch.choose(0, {1, 2}), 1U);
}

// Between two reports: with what was sent meanwhile, 10 units are filled to 20 %, 30 to 20 %, 60 to 20 %.
TEST(DispatchPolicy, LeastLoadedRemembersWhatItSentSinceTheReports)
{
    Dispatch dispatch(DispatchRule::kLeastLoaded, scenario_of(1));
    std::array<int, 3> counts{};
    for (int job = 0; job < 20; ++job)
        ++counts[dispatch.choose(0)];
    EXPECT_THAT(counts, testing::ElementsAre(2, 6, 12));

    dispatch.now_s = 10; // the reports are of now, and say that all is idle: so it is
    EXPECT_EQ(dispatch.choose(0), 2U);
}

// With reports of every moment, jobs of one moment still know of one another.
TEST(DispatchPolicy, LeastLoadedSpreadsJobsOfOneMoment)
{
    Scenario scenario = scenario_of(1);
    scenario.knowledge.report_every_s = 0;
    Dispatch dispatch(DispatchRule::kLeastLoaded, std::move(scenario));
    EXPECT_EQ(dispatch.choose(0), 2U);
    EXPECT_EQ(dispatch.choose(0), 1U);
    EXPECT_EQ(dispatch.choose(0), 0U);
    dispatch.now_s = 1;
    EXPECT_EQ(dispatch.choose(0), 2U);
}

TEST(DispatchPolicy, PeakAndBenchmarkTakeTheBestThatIsFree)
{
    Dispatch peak(DispatchRule::kPeakFlops, scenario_of(1));
    Dispatch benchmark(DispatchRule::kBenchmark, scenario_of(1));
    EXPECT_EQ(peak.choose(0), 1U);
    EXPECT_EQ(benchmark.choose(0), 2U);
    for (Dispatch* dispatch : {&peak, &benchmark}) {
        dispatch->reports[1].free_units = 0;
        dispatch->reports[2] = {.unit_count = 60, .free_units = 60, .queued_jobs = 1, .queued_units = 70};
        EXPECT_EQ(dispatch->choose(0), 0U);
        dispatch->reports[0].free_units = 0;
        dispatch->reports[0].queued_jobs = 1;
        dispatch->reports[0].queued_units = 1;
        EXPECT_EQ(dispatch->choose(0), 1U); // none is free: the least loaded
    }
}

TEST(DispatchPolicy, FavouritesAreTheUsersOwnByUnits)
{
    Scenario scenario = scenario_of(10000);
    scenario.workload.users.resize(10000);
    for (std::uint32_t job = 0; job < 10000; ++job)
        scenario.workload.jobs[job].user = job;
    Dispatch dispatch(DispatchRule::kFavourite, std::move(scenario));
    std::array<int, 3> counts{};
    std::array<int, 3> counts_without_third{};
    for (std::size_t job = 0; job < 10000; ++job) {
        const std::size_t favourite = dispatch.choose(job);
        ++counts[favourite];
        const std::size_t of_two = dispatch.choose(job, {0, 1});
        ++counts_without_third[of_two];
        if (favourite != 2) EXPECT_EQ(of_two, favourite);
        EXPECT_EQ(dispatch.choose(job), favourite);
    }
    EXPECT_NEAR(counts[0], 1000, 100);
    EXPECT_NEAR(counts[1], 3000, 150);
    EXPECT_NEAR(counts[2], 6000, 150);
    EXPECT_NEAR(counts_without_third[0], 2500, 130);
}

// The mean peak is 2 TFLOPS: 100 s take 100, 50 and 200 s.
TEST(DispatchPolicy, ShortestCompletionAddsWaitAndRun)
{
    Dispatch dispatch(DispatchRule::kShortestCompletion, scenario_of(1));
    EXPECT_EQ(dispatch.choose(0), 1U);

    // 30 units of twice the speed do 6000 in 100 s, and then the job in 50 s; the first does it in 100 s.
    dispatch.reports[1] = {.unit_count = 30, .free_units = 0, .queued_work = 3000, .running_work = 3000};
    EXPECT_EQ(dispatch.choose(0), 0U);
    dispatch.reports[1] = {.unit_count = 30, .free_units = 0, .queued_work = 1400, .running_work = 1400};
    EXPECT_EQ(dispatch.choose(0), 1U);
}

TEST(DispatchPolicy, LimitsAreWhatUsersSay)
{
    Scenario scenario = scenario_of(1);
    scenario.network.centers[0].start_up_s = 10;
    scenario.network.centers[0].network_rate_bytes.fill(1e6);
    scenario.workload.details[0].data_in_bytes = 5e6;
    scenario.workload.details[0].data_out_bytes = 2e6;
    scenario.workload.jobs[0].unit_count = 3;
    Dispatch dispatch(DispatchRule::kLeastLoaded, std::move(scenario));
    EXPECT_TRUE(dispatch.policy().hands_over());

    const PolicyStart as_mean = dispatch.start(0, {0});
    EXPECT_EQ(as_mean.job, 0U);
    EXPECT_EQ(as_mean.unit_count, 3);
    EXPECT_DOUBLE_EQ(as_mean.predicted_s, 10 + 5 + 100 + 2);
    EXPECT_DOUBLE_EQ(dispatch.start(0, {1}).predicted_s, 10 + 5 + 100 + 2); // twice as fast: the limit stays
    EXPECT_DOUBLE_EQ(dispatch.start(0, {2}).predicted_s, 10 + 5 + 200 + 2);
}

} // namespace
} // namespace fathom::simulation
