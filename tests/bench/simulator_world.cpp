// Writes the network and the jobs that tests/bench/simulator simulates, as files of `fathom simulate`.
#include "core/base/portable_math.hpp"
#include "core/model/price_book.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/world/centers_file_write.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/os.h>

#include <cmath>
#include <filesystem>
#include <iterator>

namespace fathom::simulation {
namespace {

constexpr std::size_t kCenters = 100;
constexpr std::size_t kJobTypes = 20;
constexpr std::int64_t kMinUnits = 16;
constexpr std::int64_t kMaxUnits = 256;
constexpr double kSpread = 0.5;        ///< of ln of unit types' speeds, and of how well each suits a job type
constexpr double kMedianWork_s = 1200; ///< lognormal
constexpr double kWorkSpread = 1.5;    ///< of ln of work: a tenth of the jobs have two thirds of it
constexpr double kWideShare = 0.1;     ///< jobs on several units: 2, 4, 8 or 16
constexpr double kHour_s = 3600;
constexpr double kBegin_s = 9 * kHour_s; ///< by day, so that of any number of jobs some had best wait for the night

// What some jobs of the mixed world have, each by its own draw.
constexpr double kShare = 0.1;
constexpr std::size_t kProjects = 20; ///< all jobs have one, the n-th 1/n as many as the first
constexpr std::size_t kUsers = 200;
constexpr std::int32_t kMaxTimes = 8;    ///< max_units over unit_count
constexpr std::size_t kFirstScaled = 10; ///< job types from there on have tables of speed-ups
constexpr double kSerialShare = 0.03;    ///< of these (Amdahl)
constexpr double kMedianBytes = 2e10;    ///< lognormal, as much again × 0.1 back
constexpr double kBytesSpread = 1.5;     ///< of ln
constexpr double kMedianBytesPerS = 2e8; ///< of a center's network by day; by night three times as much
constexpr double kMeanPrice = 0.2;       ///< of a unit of speed 1, an hour; by night half
constexpr double kReachableSpeed = 2;    ///< deadlines and budgets are set for a unit of that speed

/// What a draw is for; part of its keys.
enum Purpose : std::uint64_t {
    kTypes,
    kUnits,
    kSpeed,
    kAffinity,
    kGap,
    kWork,
    kKind,
    kWide,
    kWidth,
    kNetworkRate,
    kDeadline,
    kSlack,
    kData,
    kBytes,
    kBudget,
    kMoney,
    kCheapest,
    kProject,
    kUser,
    kMax,
    kEstimate,
};
constexpr std::uint64_t kNetworkSeed = 42;

double uniform(Purpose purpose, std::size_t number)
{
    return uniform_of(kNetworkSeed, purpose, number);
}
double normal(Purpose purpose, std::size_t number, std::size_t of = 0)
{
    return normal_of(kNetworkSeed, purpose, number, of);
}

bool is_night(std::size_t hour)
{
    return hour % 24 < 6;
}

UnitPrice price_of(double speed)
{
    PriceEntry entry;
    entry.per_unit_hour_micros = std::llround(1e6 * kMeanPrice * speed);
    entry.bands = {{{}, 0, 6, entry.per_unit_hour_micros / 2}};
    entry.unit_power_w = 100 + 100 * speed;
    return UnitPrice(entry);
}

/// Speed-ups of jobs of which a part cannot be shared.
std::vector<CountSpeedup> speedups()
{
    std::vector<CountSpeedup> table;
    for (std::int64_t count = 2; count <= kMaxUnits; count *= 2)
        table.push_back({count, 1 / (kSerialShare + (1 - kSerialShare) / static_cast<double>(count))});
    return table;
}

UnitType make_unit_type(std::size_t center, std::size_t number, bool is_mixed)
{
    UnitType type;
    type.name = fmt::format("type_{:03}", number);
    type.center = center;
    const double doublings = 4 * uniform(kUnits, number);
    type.unit_count = std::min<std::int64_t>(kMaxUnits, std::llround(kMinUnits * portable::exp2(doublings)));
    const double speed = portable::exp(kSpread * normal(kSpeed, number));
    for (std::size_t job_type = 0; job_type < kJobTypes; ++job_type) {
        UnitTypeRate& rate = type.rates.emplace_back();
        rate.rate = speed * portable::exp(kSpread * normal(kAffinity, number, job_type));
        if (is_mixed && job_type >= kFirstScaled) rate.speedups = speedups();
    }
    type.peak_flops = speed * 1e12;
    type.benchmark = speed;
    if (is_mixed) type.price = price_of(speed);
    return type;
}

Center make_center(std::size_t number, bool is_mixed)
{
    Center center;
    center.name = fmt::format("center_{:02}", number);
    if (!is_mixed) return center;
    center.start_up_s = 5;
    const double rate = kMedianBytesPerS * portable::exp(kSpread * normal(kNetworkRate, number));
    for (std::size_t hour = 0; hour < center.network_rate_bytes.size(); ++hour)
        center.network_rate_bytes[hour] = is_night(hour) ? 3 * rate : rate;
    return center;
}

CentersFile make_centers(bool is_mixed)
{
    CentersFile file;
    Network& network = file.network;
    for (std::size_t type = 0; type < kJobTypes; ++type)
        network.job_types.push_back({fmt::format("job_type_{:02}", type),
                                     is_mixed && type >= kFirstScaled ? Scaling::kTable : Scaling::kFixed});
    file.tells_scaling.assign(kJobTypes, true);
    for (std::size_t center = 0; center < kCenters; ++center) {
        network.centers.push_back(make_center(center, is_mixed));
        const int count = uniform(kTypes, center) < 0.5 ? 1 : 2;
        for (int i = 0; i < count; ++i)
            network.unit_types.push_back(make_unit_type(center, network.unit_types.size(), is_mixed));
    }
    file.other_rates.resize(network.unit_types.size());
    return file;
}

/// A job's project: the n-th comes 1/n as often as the first.
std::uint32_t draw_project(std::size_t job)
{
    double sum = 0;
    for (std::size_t project = 1; project <= kProjects; ++project)
        sum += 1 / static_cast<double>(project);
    double left = sum * uniform(kProject, job);
    std::uint32_t project = 0;
    for (; project + 1 < kProjects && left >= 1.0 / (project + 1); ++project)
        left -= 1.0 / (project + 1);
    return project;
}

/// Deadline, data, budget: each by its own share, so that some jobs have several.
JobDetails draw_details(const Job& job, std::size_t number)
{
    JobDetails details;
    const double usual_s = job.work / kReachableSpeed;
    if (uniform(kDeadline, number) < kShare) details.deadline_in_s = 600 + usual_s * (2 + 18 * uniform(kSlack, number));
    if (uniform(kData, number) < kShare) {
        details.data_in_bytes = std::round(kMedianBytes * portable::exp(kBytesSpread * normal(kBytes, number)));
        details.data_out_bytes = std::round(details.data_in_bytes / 10);
    }
    if (uniform(kBudget, number) < kShare) {
        const double usual = kMeanPrice * job.work / kHour_s * job.unit_count;
        details.budget = 0.01 + usual * (0.5 + 2.5 * uniform(kMoney, number));
        if (uniform(kCheapest, number) < 0.5) details.prefer = {0, 1, 0};
    }
    return details;
}

void mix(Job& job, std::size_t number, Workload& workload)
{
    job.project = draw_project(number);
    job.user = static_cast<std::uint32_t>(kUsers * uniform(kUser, number));
    job.estimate_s = job.work * (1 + 3 * uniform(kEstimate, number));
    if (job.job_type >= kFirstScaled) {
        // Its work is that on one unit.
        job.work *= job.unit_count;
        job.estimate_s *= job.unit_count;
        if (uniform(kMax, number) < 2 * kShare) job.max_units = kMaxTimes * job.unit_count;
    }
    workload.details.push_back(draw_details(job, number));
    job.details = static_cast<std::uint32_t>(workload.details.size() - 1);
}

/// Jobs that come by a Poisson process, spread over the time in which they make that load.
Workload make_workload(const Network& network, std::size_t jobs, double load, bool is_mixed)
{
    Scenario scenario{.network = network, .workload = {}, .knowledge = {}, .skips = {}};
    Workload& workload = scenario.workload;
    double now_s = 0;
    for (std::size_t i = 0; i < jobs; ++i) {
        now_s -= portable::log(1 - uniform(kGap, i));
        Job job;
        job.arrival_s = now_s;
        job.work = kMedianWork_s * portable::exp(kWorkSpread * normal(kWork, i));
        job.job_type = static_cast<std::uint32_t>(kJobTypes * uniform(kKind, i));
        if (uniform(kWide, i) < kWideShare) job.unit_count = 1 << static_cast<int>(1 + 4 * uniform(kWidth, i));
        if (is_mixed) mix(job, i, workload);
        workload.jobs.push_back(job);
    }
    workload.end_counted = jobs;
    const double stretch = load_of(scenario) / load;
    for (Job& job : workload.jobs)
        job.arrival_s = kBegin_s + job.arrival_s * stretch;
    return std::move(workload);
}

/// As docs/simulation.md has it: what a job does not have is not in its line.
void write_workload(const Workload& workload, bool is_mixed, const std::filesystem::path& path)
{
    fmt::ostream out = fmt::output_file(path.string());
    for (const Job& job : workload.jobs) {
        const JobDetails& details = workload.details[job.details];
        out.print(R"({{"arrival_s": {}, "job_type": "job_type_{:02}", "work_s": {})", job.arrival_s, job.job_type,
                  job.work);
        if (job.unit_count > 1) out.print(R"(, "unit_count": {})", job.unit_count);
        if (job.max_units > 0) out.print(R"(, "max_units": {})", job.max_units);
        if (is_mixed)
            out.print(R"(, "project": "project_{:02}", "user": "user_{:03}", "estimate_s": {})", job.project, job.user,
                      job.estimate_s);
        if (details.deadline_in_s) out.print(R"(, "deadline_in_s": {})", *details.deadline_in_s);
        if (details.data_in_bytes > 0)
            out.print(R"(, "data_in_bytes": {}, "data_out_bytes": {})", details.data_in_bytes, details.data_out_bytes);
        if (details.budget) out.print(R"(, "budget": {})", *details.budget);
        if (details.prefer.cost > 0) out.print(R"(, "prefer": "cheapest")");
        out.print("}}\n");
    }
}

void write_world(const std::filesystem::path& folder, std::size_t jobs, double load, bool is_mixed)
{
    const CentersFile centers = make_centers(is_mixed);
    fmt::ostream out = fmt::output_file((folder / "centers.json").string());
    out.print("{}\n", to_json(centers).dump());
    write_workload(make_workload(centers.network, jobs, load, is_mixed), is_mixed, folder / "jobs.jsonl");
}

} // namespace
} // namespace fathom::simulation

int main(int argc, char** argv)
{
    CLI::App app{"Writes centers.json and jobs.jsonl: what the simulator is timed with"};
    std::string folder;
    std::size_t jobs = 1'000'000;
    double load = 0.8;
    bool is_mixed = false;
    app.add_option("--folder", folder)->required()->check(CLI::ExistingDirectory);
    app.add_option("--jobs", jobs)->check(CLI::Range(1000, 100'000'000));
    app.add_option("--load", load)->check(CLI::Range(0.01, 10.0));
    app.add_flag("--mixed", is_mixed);
    CLI11_PARSE(app, argc, argv);
    try {
        fathom::simulation::write_world(folder, jobs, load, is_mixed);
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "simulator_world: {}\n", e.what());
        return 1;
    }
}
