#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fathom::simulation {
namespace {

/// Two unit types of one unit each, of rates 1 and 4, at centers of their own.
Scenario two_types(std::vector<Job> jobs)
{
    Scenario scenario = single_type(1, std::move(jobs));
    scenario.network.centers.push_back(make_center("other"));
    scenario.network.unit_types.push_back(make_unit_type("fast", 1, 1, {4}));
    scenario.workload.details.resize(2);
    for (Job& job : scenario.workload.jobs)
        job.details = 1;
    return scenario;
}

JobOutcome only(const Scenario& scenario)
{
    return simulate(scenario, "fathom", 1)->jobs.at(0);
}

UnitPrice price(double per_hour, const std::vector<PriceBand>& bands = {})
{
    PriceEntry entry;
    entry.per_unit_hour_micros = static_cast<std::int64_t>(1e6 * per_hour);
    entry.bands = bands;
    return UnitPrice(entry);
}

TEST(OrderPolicy, SendsAJobWhereItRunsFastest)
{
    const JobOutcome outcome = only(two_types({make_job(10, 400)}));

    EXPECT_EQ(outcome.unit_type, 1U);
    EXPECT_DOUBLE_EQ(outcome.start_s, 10);
    EXPECT_DOUBLE_EQ(outcome.end_s, 110);
    EXPECT_DOUBLE_EQ(outcome.predicted_s, 100);
}

TEST(OrderPolicy, ShortJobsGoBeforeLongOnes)
{
    const SimulationResult result =
        simulate(single_type(1, {make_job(0, 100), make_job(1, 1000), make_job(2, 10)}), "fathom", 1).value();

    EXPECT_DOUBLE_EQ(result.jobs[2].start_s, 100);
    EXPECT_DOUBLE_EQ(result.jobs[1].start_s, 110);
}

// 400 s of work: 100 s and 2 on the fast type, 400 s and 4/9 on the other.
TEST(OrderPolicy, BudgetAndPreferenceForCostCount)
{
    Scenario scenario = two_types({make_job(0, 400)});
    scenario.network.unit_types[0].price = price(4);
    scenario.network.unit_types[1].price = price(72);
    EXPECT_EQ(only(scenario).unit_type, 1U);

    scenario.workload.details[1].budget = 1;
    EXPECT_EQ(only(scenario).unit_type, 0U);
    scenario.workload.details[1].budget = 0.4;
    EXPECT_EQ(only(scenario).state, JobState::kImpossible);

    scenario.workload.details[1].budget.reset();
    scenario.workload.details[1].prefer = {0, 1, 0};
    EXPECT_EQ(only(scenario).unit_type, 0U);
}

TEST(OrderPolicy, AJobIsGivenUpWhenItsDeadlineCannotBeMetAnyMore)
{
    // The first has the fast unit until 1000, on the slow one the second would end at 405.
    Scenario scenario = two_types({make_job(0, 4000), make_job(5, 400)});
    scenario.workload.jobs[0].details = 0;
    scenario.workload.details[1].deadline_in_s = 400;
    EXPECT_EQ(simulate(scenario, "fathom", 1)->jobs[1].state, JobState::kEnded);

    scenario.workload.details[1].deadline_in_s = 399;
    const SimulationResult late = simulate(scenario, "fathom", 1).value();
    EXPECT_EQ(late.jobs[0].state, JobState::kEnded);
    EXPECT_EQ(late.jobs[1].state, JobState::kImpossible);
}

TEST(OrderPolicy, NothingRunsIntoAClosure)
{
    Scenario scenario = single_type(1, {make_job(0, 400), make_job(1, 100)});
    scenario.network.centers[0].closures = {{300, 1000}};

    const SimulationResult result = simulate(scenario, "fathom", 1).value();

    EXPECT_DOUBLE_EQ(result.jobs[1].start_s, 1);
    EXPECT_DOUBLE_EQ(result.jobs[0].start_s, 1000);
}

// 36 GB at 1 MB/s take ten hours, at 100 MB/s from 02:00 on six minutes.
TEST(OrderPolicy, DataWaitsForAGoodHourOfTheNetworkWhereTheDeadlineAllows)
{
    Scenario scenario = single_type(1, {make_job(0, 600)});
    scenario.network.centers[0].network_rate_bytes.fill(1e6);
    for (const std::size_t hour : {2U, 3U})
        scenario.network.centers[0].network_rate_bytes[hour] = 1e8;
    scenario.workload.details[0].data_in_bytes = 36e9;
    EXPECT_DOUBLE_EQ(only(scenario).start_s, 0) << "without a deadline it does not wait";

    scenario.workload.details[0].deadline_in_s = 20 * 3600;
    EXPECT_DOUBLE_EQ(only(scenario).start_s, 2 * 3600);
    EXPECT_NEAR(only(scenario).end_s, 2 * 3600 + 360 + 600, 1);
}

TEST(OrderPolicy, WhoSavesMoneyWaitsForTheNightWhereTheDeadlineAllows)
{
    Scenario scenario = single_type(1, {make_job(0, 600)});
    scenario.network.unit_types[0].price = price(10, {{{}, 5, 6, 1'000'000}});
    scenario.workload.details[0].prefer = {0, 1, 0};
    EXPECT_DOUBLE_EQ(only(scenario).start_s, 0);

    scenario.workload.details[0].deadline_in_s = 20 * 3600;
    EXPECT_DOUBLE_EQ(only(scenario).start_s, 5 * 3600);
}

// Speed-ups 1, 1.8, 2.4, 2.6 on 1, 2, 4, 8 units: S²/n is 1, 1.62, 1.44, 0.85, so the knee is at two.
TEST(OrderPolicy, AJobThatMayHaveMoreUnitsTakesNoMoreThanPay)
{
    Scenario scenario = single_type(8, {make_job(0, 600)});
    scenario.network.job_types[0].scaling = Scaling::kTable;
    scenario.network.unit_types[0].rates[0].speedups = {{1, 1}, {2, 1.8}, {4, 2.4}, {8, 2.6}};
    EXPECT_EQ(only(scenario).unit_count, 1);

    scenario.workload.jobs[0].max_units = 8;
    // Nothing has been busy for two weeks.
    scenario.workload.jobs.insert(scenario.workload.jobs.begin(), make_job(0, 1));
    scenario.workload.jobs[1].arrival_s = 14 * 86'400;
    scenario.workload.end_counted = 2;
    EXPECT_EQ(simulate(scenario, "fathom", 1)->jobs[1].unit_count, 2);
}

/// Two projects on one unit: the first has a hundred jobs, the second comes with one that is twice as long.
TEST(OrderPolicy, AProjectThatHasHadNothingGoesFirst)
{
    std::vector<Job> jobs;
    for (int i = 0; i < 100; ++i)
        jobs.push_back(make_job(0, 100));
    jobs.push_back(make_job(1, 200));
    Scenario scenario = single_type(1, jobs);
    EXPECT_GT(simulate(scenario, "fathom", 1)->jobs[100].start_s, 3000);

    scenario.workload.projects = {"many", "one"};
    scenario.workload.jobs[100].project = 1;
    EXPECT_LT(simulate(scenario, "fathom", 1)->jobs[100].start_s, 1000);
}

// The fast unit is the slow one by its sheet. All jobs but the first come while the units are busy.
TEST(OrderPolicy, ShortestEstimateFirstGoesByWhatUsersAndSheetsSay)
{
    Scenario scenario = two_types({make_job(0, 4000), make_job(0, 4000), make_job(1, 40), make_job(2, 400)});
    scenario.workload.details[1] = {};
    scenario.network.unit_types[0].peak_flops = 4e12;
    scenario.network.unit_types[1].peak_flops = 1e12;
    scenario.workload.jobs[2].estimate_s = 4000;
    scenario.workload.jobs[3].estimate_s = 500;

    const SimulationResult estimated = simulate(scenario, "shortest_estimate_first", 1).value();
    EXPECT_EQ(estimated.jobs[0].unit_type, 0U);
    EXPECT_GT(estimated.jobs[2].start_s, estimated.jobs[3].start_s);

    const SimulationResult measured = simulate(scenario, "shortest_first", 1).value();
    EXPECT_EQ(measured.jobs[0].unit_type, 1U);
    EXPECT_LT(measured.jobs[2].start_s, measured.jobs[3].start_s);
}

TEST(OrderPolicy, TheOracleKnowsWhatTheOthersHaveToLearn)
{
    Scenario scenario = single_type(1, {});
    for (int i = 0; i < 200; ++i)
        scenario.workload.jobs.push_back(make_job(i, 10.0 + 7 * (i % 13)));
    scenario.workload.end_counted = scenario.workload.jobs.size();
    scenario.knowledge.job_noise = 1;

    const double ours = mean_completion_s(scenario, *simulate(scenario, "fathom", 1));
    const double oracle = mean_completion_s(scenario, *simulate(scenario, "oracle", 1));
    const double first_come = mean_completion_s(scenario, *simulate(scenario, "first_come", 1));

    EXPECT_LT(oracle, ours);
    EXPECT_LT(ours, first_come);
}

TEST(Policies, HaveNamesThatFindThem)
{
    std::set<std::string_view> names;
    for (const PolicyName& one : policy_names()) {
        EXPECT_TRUE(find_policy(one.name).make) << one.name;
        EXPECT_FALSE(one.title.empty());
        EXPECT_TRUE(names.insert(one.name).second) << one.name;
    }
    EXPECT_EQ(policy_names().front().name, "fathom");
    EXPECT_FALSE(find_policy("fasthom").make);
    EXPECT_FALSE(simulate(single_type(1, {make_job(0, 1)}), "fasthom", 1));
}

} // namespace
} // namespace fathom::simulation
