// How fast networks are simulated, and in how much memory (see tests/bench/simulator).
#include "cli/simulate/figures.hpp"
#include "cli/simulate/simulation.hpp"
#include "cli/simulate/truth.hpp"
#include "core/base/portable_math.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <sys/resource.h>

namespace fathom::simulation {
namespace {

constexpr std::size_t kCenters = 100;
constexpr std::size_t kJobTypes = 20;
constexpr std::int64_t kLeastUnits = 16;
constexpr std::int64_t kMostUnits = 256;
constexpr double kSpread = 0.5;        ///< of ln of unit types' speeds, and of how well each suits a job type
constexpr double kMedianWork_s = 1200; ///< lognormal
constexpr double kWorkSpread = 1.5;    ///< of ln of work: a tenth of the jobs have two thirds of it
constexpr double kWideShare = 0.1;     ///< jobs on several units: 2, 4, 8 or 16

/// What a draw is for; part of its keys.
enum Purpose : std::uint64_t { kTypes, kUnits, kSpeed, kAffinity, kGap, kWork, kKind, kWide, kWidth };
constexpr std::uint64_t kNetworkSeed = 42;

Network make_network()
{
    Network network;
    for (std::size_t type = 0; type < kJobTypes; ++type)
        network.job_types.push_back({fmt::format("type_{:02}", type), Scaling::kFixed});
    for (std::size_t center = 0; center < kCenters; ++center) {
        network.centers.push_back({fmt::format("center_{:02}", center), 0, {}, {}});
        const int count = uniform_of(kNetworkSeed, kTypes, center) < 0.5 ? 1 : 2;
        for (int i = 0; i < count; ++i) {
            const std::size_t number = network.unit_types.size();
            const double doublings = 4 * uniform_of(kNetworkSeed, kUnits, number);
            UnitType type;
            type.name = fmt::format("center_{:02}_{}", center, i);
            type.center = center;
            type.unit_count = std::min<std::int64_t>(kMostUnits, std::llround(kLeastUnits * portable::exp2(doublings)));
            const double speed = portable::exp(kSpread * normal_of(kNetworkSeed, kSpeed, number));
            for (std::size_t job_type = 0; job_type < kJobTypes; ++job_type)
                type.rates.push_back(
                    {speed * portable::exp(kSpread * normal_of(kNetworkSeed, kAffinity, number, job_type)), {}});
            type.peak_flops = speed * 1e12;
            type.benchmark = speed;
            network.unit_types.push_back(std::move(type));
        }
    }
    return network;
}

/// Jobs that come by a Poisson process; all of them count.
Scenario make_scenario(std::size_t jobs, double load)
{
    Scenario scenario;
    scenario.network = make_network();
    double now_s = 0;
    for (std::size_t i = 0; i < jobs; ++i) {
        now_s -= portable::log(1 - uniform_of(kNetworkSeed, kGap, i));
        Job job;
        job.arrival_s = now_s;
        job.work = kMedianWork_s * portable::exp(kWorkSpread * normal_of(kNetworkSeed, kWork, i));
        job.job_type = static_cast<std::uint32_t>(kJobTypes * uniform_of(kNetworkSeed, kKind, i));
        if (uniform_of(kNetworkSeed, kWide, i) < kWideShare)
            job.unit_count = 1 << static_cast<int>(1 + 4 * uniform_of(kNetworkSeed, kWidth, i));
        scenario.workload.jobs.push_back(job);
    }
    scenario.workload.end_counted = jobs;
    scenario.workload.users.emplace_back();
    // So much work a second makes this load; arrivals are spread over the time in which they make the wanted one.
    const double stretch = load_of(scenario) / load;
    for (Job& job : scenario.workload.jobs)
        job.arrival_s *= stretch;
    return scenario;
}

/// What this process has had of its core: the wall clock would count what others have it for, too.
double processor_s()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_rss_mib()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Timing {
    double core_s{};
    double decisions_per_s{};
};

Timing time_one(std::size_t jobs, double load, const std::string& policy, std::uint64_t seed)
{
    const Scenario scenario = make_scenario(jobs, load);
    const auto begin = std::chrono::steady_clock::now();
    const double before_s = processor_s();
    const Result<SimulationResult> result = simulate(scenario, policy, seed);
    const double core_s = processor_s() - before_s;
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!result) throw std::runtime_error(describe(result.error()));
    double completion_s = 0;
    for (std::size_t i = 0; i < jobs; ++i)
        completion_s += (result->jobs[i].end_s - scenario.workload.jobs[i].arrival_s) / static_cast<double>(jobs);
    // The policy is timed by the wall clock, of which the core had a part.
    const double decide_s = result->decide_wall_s * std::min(1.0, core_s / wall_s);
    const Timing timing{core_s, static_cast<double>(result->decisions) / decide_s};
    fmt::print(
        "{:>9} jobs{:>9.2f} s of a core ({:.2f} s of time){:>8.2f} us a job{:>10.0f} decisions/s, at most {} waited, "
        "mean completion {:.0f} s\n",
        jobs, core_s, wall_s, 1e6 * core_s / static_cast<double>(jobs), timing.decisions_per_s, result->most_waiting,
        completion_s);
    std::fflush(stdout);
    return timing;
}

int run(std::size_t most_jobs, double load, const std::string& policy, std::uint64_t seed)
{
    std::vector<std::size_t> sizes;
    for (std::size_t jobs = most_jobs; jobs >= 1000 && sizes.size() < 3; jobs /= 10)
        sizes.insert(sizes.begin(), jobs);
    std::vector<Timing> timings;
    for (const std::size_t jobs : sizes)
        timings.push_back(time_one(jobs, load, policy, seed));
    fmt::print("RESULT {} {:.2f} s\n", most_jobs == 1'000'000 ? "million_jobs_100_centers_s" : "jobs_100_centers_s",
               timings.back().core_s);
    fmt::print("RESULT peak_rss_mib {:.0f} MiB\n", peak_rss_mib());
    for (std::size_t i = 0; i < sizes.size(); ++i)
        fmt::print("RESULT us_per_job_{} {:.2f} us\n", sizes[i],
                   1e6 * timings[i].core_s / static_cast<double>(sizes[i]));
    fmt::print("RESULT decisions_per_s {:.0f} 1/s\n", timings.back().decisions_per_s);
    return 0;
}

} // namespace
} // namespace fathom::simulation

int main(int argc, char** argv)
{
    CLI::App app{"How fast networks are simulated"};
    std::size_t jobs = 1'000'000;
    double load = 0.8;
    std::string policy = "fathom";
    std::uint64_t seed = 1;
    app.add_option("--jobs", jobs)->check(CLI::Range(1000, 100'000'000));
    app.add_option("--load", load)->check(CLI::Range(0.01, 10.0));
    app.add_option("--policy", policy);
    app.add_option("--seed", seed);
    CLI11_PARSE(app, argc, argv);
    try {
        return fathom::simulation::run(jobs, load, policy, seed);
    } catch (const std::exception& e) {
        fmt::print(stderr, "simulator_bench: {}\n", e.what());
        return 1;
    }
}
