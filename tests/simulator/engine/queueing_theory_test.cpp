#include "core/base/portable_math.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/world/draw.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>

// The simulation against what queueing theory says of waits in the mean (Kleinrock, Queueing Systems I, 1975). Each
// mean is taken over independent replications, whose seeds are 1, 2, 3 … and were not chosen; it must lie within its
// own 95 % interval (Student), and that must be narrow enough to tell something.
namespace fathom::simulation {
namespace {

constexpr std::size_t kReplications = 20;
constexpr std::size_t kWarmUp = 1000;
constexpr std::size_t kCounted = 10'000;

using Service = std::function<double(Draw&)>;

double exponential(Draw& draw)
{
    return draw.exponential(1);
}

/// Nine of ten take half as long as the mean, one 5.5 times as long: mean 1, E S² = 6.5.
double hyperexponential(Draw& draw)
{
    return draw.uniform() < 0.9 ? draw.exponential(0.5) : draw.exponential(5.5);
}
constexpr double kHyperexponentialSquare = 2 * (0.9 * 0.5 * 0.5 + 0.1 * 5.5 * 5.5);

/// Mean 1, σ of the logarithm 1: E S² = e.
double lognormal(Draw& draw)
{
    return portable::exp(draw.normal() - 0.5);
}

double constant(Draw&)
{
    return 1;
}

/// Poisson arrivals so that the units are busy for that share of the time; service takes 1 in the mean.
Scenario station(std::int64_t units, double load, const Service& service, std::uint64_t seed)
{
    Draw draw(seed);
    std::vector<Job> jobs;
    double now_s = 0;
    for (std::size_t i = 0; i < kWarmUp + kCounted; ++i) {
        now_s += draw.exponential(1 / (load * static_cast<double>(units)));
        jobs.push_back(make_job(now_s, service(draw)));
    }
    Scenario scenario = single_type(units, std::move(jobs));
    scenario.workload.first_counted = kWarmUp;
    return scenario;
}

/// Probability that an arrival has to wait in M/M/c (Erlang's C), by the recursion of Erlang's B.
double erlang_c(std::int64_t units, double load)
{
    const double offered = load * static_cast<double>(units);
    double blocked = 1;
    for (std::int64_t n = 1; n <= units; ++n)
        blocked = offered * blocked / (static_cast<double>(n) + offered * blocked);
    return blocked / (1 - load * (1 - blocked));
}

/// Mean wait in M/G/1: λ E S² / 2 (1 − ρ) (Pollaczek and Khinchine).
double pollaczek_khinchine(double load, double mean_square)
{
    return load * mean_square / (2 * (1 - load));
}

/// Mean wait in M/M/1 when the shortest goes first and none is interrupted (Phipps 1956): with R = ρ the mean work left
/// of who is served, ∫ R / (1 − ρ(x))² e⁻ˣ dx, where ρ(x) = ρ (1 − (1 + x) e⁻ˣ) is the load of jobs shorter than x.
double shortest_first_wait(double load)
{
    constexpr int kSteps = 100'000;
    constexpr double kMaxDuration = 50;
    double sum = 0;
    for (int step = 0; step < kSteps; ++step) {
        const double x = kMaxDuration * (step + 0.5) / kSteps;
        const double busy = load * (1 - (1 + x) * std::exp(-x));
        sum += load / ((1 - busy) * (1 - busy)) * std::exp(-x) * kMaxDuration / kSteps;
    }
    return sum;
}

struct Station {
    const char* name;
    std::int64_t units;
    double load;
    Service service;
    double expected_wait;
};

std::vector<double> replicate(const Station& one, std::string_view policy, std::size_t replications = kReplications)
{
    std::vector<double> waits;
    for (std::uint64_t seed = 1; seed <= replications; ++seed) {
        const Scenario scenario = station(one.units, one.load, one.service, seed);
        waits.push_back(mean_wait_s(scenario, simulate(scenario, policy, seed).value()));
    }
    return waits;
}

void expect_wait(const Station& one, const std::vector<double>& waits)
{
    const Confidence wait = confidence(waits);
    std::cout << one.name << ": mean wait " << wait.mean << " ± " << wait.half_width << ", theory " << one.expected_wait
              << '\n';
    EXPECT_LE(std::abs(wait.mean - one.expected_wait), wait.half_width) << one.name << ": " << wait.mean;
    EXPECT_LE(wait.half_width, 0.15 * one.expected_wait) << one.name;
}

TEST(QueueingTheory, MeanWaitsAreThoseOfTheory)
{
    const std::vector<Station> stations{
        {"M/M/1, load 0.7", 1, 0.7, exponential, 0.7 / 0.3},
        {"M/M/5, load 0.8", 5, 0.8, exponential, erlang_c(5, 0.8) / (5 * 0.2)},
        {"M/M/20, load 0.8", 20, 0.8, exponential, erlang_c(20, 0.8) / (20 * 0.2)},
        {"M/D/1, load 0.8", 1, 0.8, constant, pollaczek_khinchine(0.8, 1)},
        {"M/G/1, hyperexponential, load 0.6", 1, 0.6, hyperexponential,
         pollaczek_khinchine(0.6, kHyperexponentialSquare)},
        {"M/G/1, lognormal, load 0.7", 1, 0.7, lognormal, pollaczek_khinchine(0.7, std::exp(1))},
    };
    for (const Station& one : stations) {
        std::vector<double> waits = replicate(one, "first_come");
        expect_wait(one, waits);
        waits.resize(4);
        EXPECT_EQ(replicate(one, "least_loaded", 4), waits) << "the center's own queue is the same queue";
    }
}

TEST(QueueingTheory, ShortestFirstWaitsAsTheorySays)
{
    const Station one{"M/M/1, shortest first, load 0.8", 1, 0.8, exponential, shortest_first_wait(0.8)};

    expect_wait(one, replicate(one, "shortest_first"));
}

// Little: the mean number of jobs that wait or run is the rate of arrivals times the mean time that they stay. Both are
// integrals of the same thing over the same time, so that it holds exactly when the network begins and ends empty.
TEST(QueueingTheory, LittlesLawHoldsExactly)
{
    Scenario scenario = station(5, 0.8, exponential, 1);
    scenario.workload.first_counted = 0;
    // As seen by one more job, which stays from before the first until after the last.
    scenario.workload.jobs.insert(scenario.workload.jobs.begin(), make_job(0, 1e5));
    scenario.network.unit_types[0].unit_count = 6;
    scenario.workload.end_counted = scenario.workload.jobs.size();

    const SimulationResult result = simulate(scenario, "first_come", 1).value();

    double stays_s = 0;
    for (std::size_t i = 0; i < result.jobs.size(); ++i)
        stays_s += result.jobs[i].end_s - scenario.workload.jobs[i].arrival_s;
    EXPECT_EQ(result.end_s, 1e5);
    EXPECT_NEAR(result.jobs[0].demand_unit_s, stays_s, 1e-9 * stays_s);
}

// A unit that breaks after 50 h and is repaired within 10 h, both in the mean, is out of order a sixth of the time.
TEST(QueueingTheory, UnitsAreOutOfOrderAsOftenAsTheirFailuresSay)
{
    std::vector<double> shares;
    for (std::uint64_t seed = 1; seed <= kReplications; ++seed) {
        Scenario scenario = single_type(4, {make_job(0, 1), make_job(5e5, 1), make_job(4e7, 1)});
        scenario.network.unit_types[0].failures = {.mean_between_s = 50 * 3600, .mean_repair_s = 10 * 3600};
        scenario.workload.first_counted = 1;
        const SimulationResult result = simulate(scenario, "first_come", seed).value();
        shares.push_back(result.broken_unit_s[0] / (4 * (result.counted_to_s - result.counted_from_s)));
    }
    const Confidence share = confidence(shares);

    EXPECT_LE(std::abs(share.mean - 1.0 / 6), share.half_width) << share.mean;
    EXPECT_LE(share.half_width, 0.01);
}

TEST(QueueingTheory, MoreUnitsNeverMakeFirstComeWaitLonger)
{
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Scenario scenario = station(1, 0.95, hyperexponential, seed);
        double before_s = std::numeric_limits<double>::infinity();
        for (std::int64_t units = 1; units <= 6; ++units) {
            scenario.network.unit_types[0].unit_count = units;
            const double wait_s = mean_wait_s(scenario, simulate(scenario, "first_come", seed).value());
            EXPECT_LE(wait_s, before_s) << units << " units, seed " << seed;
            before_s = wait_s;
        }
        EXPECT_LT(before_s, 0.01);
    }
}

// Half of the jobs run four times as fast on one unit type, half on the other: who knows that ends them sooner.
TEST(QueueingTheory, WhoKnowsEverythingIsNotBeatenInTheMean)
{
    std::vector<std::pair<std::string_view, double>> means;
    for (const PolicyName& policy : policy_names())
        means.emplace_back(policy.name, 0);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Scenario scenario = station(8, 0.55, exponential, seed);
        scenario.network.job_types.push_back({"other", Scaling::kFixed});
        scenario.network.unit_types = {make_unit_type("a", 0, 4, {2, 0.5}), make_unit_type("b", 0, 4, {0.5, 2})};
        for (std::size_t i = 0; i < scenario.workload.jobs.size(); i += 2)
            scenario.workload.jobs[i].job_type = 1;
        scenario.knowledge = {};
        for (auto& [name, mean] : means)
            mean += mean_completion_s(scenario, simulate(scenario, name, seed).value()) / 3;
    }
    const auto oracle = std::find_if(means.begin(), means.end(), [](const auto& one) { return one.first == "oracle"; });
    ASSERT_NE(oracle, means.end());
    for (const auto& [name, mean] : means)
        EXPECT_LE(oracle->second, mean) << name;
}

} // namespace
} // namespace fathom::simulation
