#include "tests/simulator/engine/small_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;

std::vector<double> starts(const SimulationResult& result)
{
    std::vector<double> times;
    for (const JobOutcome& outcome : result.jobs)
        times.push_back(outcome.start_s);
    return times;
}

std::vector<double> ends(const SimulationResult& result)
{
    std::vector<double> times;
    for (const JobOutcome& outcome : result.jobs)
        times.push_back(outcome.end_s);
    return times;
}

UnitPrice price(double per_unit_hour, double power_w)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = static_cast<std::int64_t>(per_unit_hour * 1e6);
    entry.unit_power_w = power_w;
    return UnitPrice(entry);
}

/// Two centers: a has four units of rate 1, and each job there starts up for 1 s; b has two of rate 2 and is closed
/// from 20 to 30.
Scenario two_centers()
{
    Scenario scenario = single_type(4, {});
    Network& network = scenario.network;
    network.centers = {make_center("a", 1), make_center("b")};
    network.centers[1].closures = {{20, 30}};
    network.unit_types = {make_unit_type("a", 0, 4, {1}), make_unit_type("b", 1, 2, {2})};
    network.unit_types[0].price = price(3.6, 100);
    scenario.workload.jobs = {make_job(0, 9, 2), make_job(1, 4, 3),  make_job(2, 6, 1),  make_job(3, 11, 1),
                              make_job(4, 2, 1), make_job(5, 8, 2),  make_job(6, 24, 1), make_job(7, 20, 1),
                              make_job(8, 6, 2), make_job(31, 10, 1)};
    scenario.workload.end_counted = scenario.workload.jobs.size();
    return scenario;
}

// By hand, first come first served with EASY backfilling by exact limits:
//
//  job  comes  units  to  holds  starts  ends  why
//   0     0      2    a    10      0      10   at once
//   1     1      3    a     5     10      15   two are free; its three will be at 10, with one to spare
//   2     2      1    a     7      2       9   is done before 10
//   3     3      1    a    12      3      15   is not, but takes the one to spare
//   4     4      1    a     3     15      18   none is free; at 9 one is, but it would be in the way of 1
//   5     5      2    b     4      5       9   at once
//   6     6      1    b    12     30      42   at 9 it would run into the closure
//   7     7      1    b    10      9      19   is done before the closure
//   8     8      2    b     3     42      45   one is free at 9, two at 19, too late; at 30 job 6 goes first
//   9    31      1    b     5     31      36   is done before 8 can start at 42
TEST(HandSchedule, OfQueuesAtCentersComesOutExactly)
{
    const Scenario scenario = two_centers();

    const SimulationResult result = simulate(scenario, table_policy({0, 0, 0, 0, 0, 1, 1, 1, 1, 1}), 1).value();

    EXPECT_THAT(starts(result), ElementsAre(0, 10, 2, 3, 15, 5, 30, 9, 42, 31));
    EXPECT_THAT(ends(result), ElementsAre(10, 15, 9, 15, 18, 9, 42, 19, 45, 36));
    EXPECT_EQ(result.end_s, 45);
    EXPECT_EQ(result.starts, 10);
    EXPECT_EQ(result.failures, 0);
    // Until 31, when the last one comes: 2·10 + 3·5 + 7 + 12 + 3 on a; 2·4 + 10 + 1 on b.
    EXPECT_THAT(result.busy_unit_s, ElementsAre(57, 19));
    EXPECT_DOUBLE_EQ(result.jobs[0].cost, 0.02) << "two units for 10 s at 3.6 an hour";
    EXPECT_DOUBLE_EQ(result.jobs[0].energy_j, 2000) << "two units of 100 W";
    // From 31 to 36: job 6 on one unit, job 8 wants two, itself one.
    EXPECT_DOUBLE_EQ(result.jobs[9].demand_unit_s, 20);
    for (const JobOutcome& outcome : result.jobs) {
        EXPECT_EQ(outcome.state, JobState::kEnded);
        EXPECT_EQ(outcome.attempts, 1);
        EXPECT_EQ(outcome.predicted_s, outcome.end_s - outcome.start_s);
    }
}

// By hand: the network moves 1000 bytes/s in even hours and none in odd ones. 5.4 MB come in from 0 to 1 h and from 2 h
// to 2.5 h; the job runs to 3 h; 3.6 MB go out from 4 h to 5 h.
TEST(HandSchedule, TransfersWaitForTheirHours)
{
    Scenario scenario = single_type(1, {make_job(0, 1800)});
    for (std::size_t hour = 0; hour < 168; hour += 2)
        scenario.network.centers[0].network_rate_bytes[hour] = 1000;
    scenario.workload.details[0].data_in_bytes = 5.4e6;
    scenario.workload.details[0].data_out_bytes = 3.6e6;

    const SimulationResult result = simulate(scenario, table_policy({0}), 1).value();

    EXPECT_DOUBLE_EQ(result.jobs[0].end_s, 5 * 3600);
}

// By hand: one unit; a job of 10 s and, from 1 on, others of 3 s, 1 s and 3 s. In order of arrival they start at 10, 13
// and 14; the shortest first, at 11, 10 and 14, and of two that are alike the one that came first.
TEST(HandSchedule, OfOrdersComesOutExactly)
{
    const Scenario scenario = single_type(1, {make_job(0, 10), make_job(1, 3), make_job(2, 1), make_job(3, 3)});

    EXPECT_THAT(starts(simulate(scenario, "first_come", 1).value()), ElementsAre(0, 10, 13, 14));
    EXPECT_THAT(starts(simulate(scenario, "shortest_first", 1).value()), ElementsAre(0, 11, 10, 14));
    EXPECT_THAT(starts(simulate(scenario, "oracle", 1).value()), ElementsAre(0, 11, 10, 14));
}

// At one moment ends come before arrivals, and who decides sees all of them: the unit that is free at 10 goes to the
// shortest of those that have come by then.
TEST(HandSchedule, OneMomentIsDecidedAsAWhole)
{
    const Scenario scenario = single_type(1, {make_job(0, 10), make_job(10, 4), make_job(10, 2), make_job(10, 3)});

    const SimulationResult result = simulate(scenario, "shortest_first", 1).value();

    EXPECT_THAT(starts(result), ElementsAre(0, 15, 10, 12));
}

} // namespace
} // namespace fathom::simulation
