#include "simulator/figures/figures.hpp"

#include "core/decide/statistics/sample_statistics.hpp"
#include "simulator/figures/job_figures.hpp"
#include "simulator/figures/no_figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr double kUnfairFrom = 1.05;
constexpr double kJoulesPerKwh = 3.6e6;

/// Sum and sum of squares: all that Jain's index needs.
class Evenness {
  public:
    void add(double value)
    {
        sum_ += value;
        squares_ += value * value;
        ++count_;
    }
    double jain() const { return squares_ > 0 ? sum_ * sum_ / (static_cast<double>(count_) * squares_) : kNoFigure; }

  private:
    double sum_ = 0;
    double squares_ = 0;
    std::int64_t count_ = 0;
};

struct Distribution {
    double mean = kNoFigure;
    double median = kNoFigure;
    double p95 = kNoFigure;
    double p99 = kNoFigure;
    double most = kNoFigure;
};

Distribution distribution_of(std::vector<double> values)
{
    if (values.empty()) return {};
    double sum = 0; // in the order of jobs: the same on every machine
    for (const double value : values)
        sum += value;
    std::sort(values.begin(), values.end());
    return {sum / static_cast<double>(values.size()), quantile(values, 0.5), quantile(values, 0.95),
            quantile(values, 0.99), values.back()};
}

Distribution distribution_of(std::span<const JobFigures> jobs, double JobFigures::* member)
{
    std::vector<double> values;
    values.reserve(jobs.size());
    for (const JobFigures& job : jobs)
        values.push_back(job.*member);
    return distribution_of(std::move(values));
}

double jain_over_projects(std::span<const JobFigures> jobs)
{
    struct Sum {
        double slowdown = 0;
        double jobs = 0;
    };
    std::map<std::uint32_t, Sum> sums;
    for (const JobFigures& job : jobs) {
        Sum& sum = sums[job.project];
        sum.slowdown += job.slowdown;
        sum.jobs += 1;
    }
    Evenness evenness;
    for (const auto& [project, sum] : sums)
        evenness.add(sum.slowdown / sum.jobs);
    return evenness.jain();
}

double jain_over_jobs(std::span<const JobFigures> jobs)
{
    Evenness evenness;
    for (const JobFigures& job : jobs)
        evenness.add(job.slowdown);
    return evenness.jain();
}

/// Collects what the jobs of a part of the network, or of all of it, come to.
class Tally {
  public:
    /// @param known_until_s  what comes later is not known: the simulation was stopped; infinite when it was not.
    void add(const Job& job, const JobOutcome& outcome, const JobDetails& details, double known_until_s)
    {
        const bool has_ended = outcome.state == JobState::kEnded;
        figures_.jobs += 1;
        figures_.ended += has_ended ? 1 : 0;
        figures_.unfinished += outcome.state == JobState::kUnfinished ? 1 : 0;
        figures_.impossible += outcome.state == JobState::kImpossible ? 1 : 0;
        figures_.cost += outcome.cost;
        energy_j_ += outcome.energy_j;
        figures_.failed_attempts += std::max(outcome.attempts - 1, 0);
        if (details.deadline_in_s) add_deadline(job, outcome, *details.deadline_in_s, known_until_s);
        if (has_ended && outcome.predicted_s > 0)
            errors_.push_back(std::abs((outcome.end_s - outcome.start_s) / outcome.predicted_s - 1));
    }
    void add_ended(const JobFigures& job) { jobs_.push_back(job); }

    /// @param unit_s  of its units: in use, and in order; nothing where it has no units of its own.
    Figures figures(double busy_unit_s, double unit_s) &&
    {
        take_times();
        figures_.utilization = unit_s > 0 ? busy_unit_s / unit_s : kNoFigure;
        figures_.energy_kwh = energy_j_ / kJoulesPerKwh;
        figures_.idle_energy_kwh = kNoFigure;
        figures_.jain_projects = jain_over_projects(jobs_);
        figures_.jain_jobs = jain_over_jobs(jobs_);
        figures_.prediction_error = distribution_of(std::move(errors_)).median;
        take_fairness();
        return figures_;
    }

  private:
    void add_deadline(const Job& job, const JobOutcome& outcome, double deadline_in_s, double known_until_s)
    {
        const bool has_ended = outcome.state == JobState::kEnded;
        if (outcome.state == JobState::kUnfinished && job.arrival_s + deadline_in_s > known_until_s) return;
        figures_.with_deadline += 1;
        figures_.missed_deadline += !has_ended || outcome.end_s - job.arrival_s > deadline_in_s ? 1 : 0;
    }
    void take_times()
    {
        const Distribution completion = distribution_of(jobs_, &JobFigures::completion_s);
        figures_.mean_completion_s = completion.mean;
        figures_.median_completion_s = completion.median;
        figures_.p95_completion_s = completion.p95;
        figures_.p99_completion_s = completion.p99;
        const Distribution wait = distribution_of(jobs_, &JobFigures::wait_s);
        figures_.mean_wait_s = wait.mean;
        figures_.p95_wait_s = wait.p95;
        figures_.max_wait_s = wait.most;
        const Distribution slowdown = distribution_of(jobs_, &JobFigures::slowdown);
        figures_.mean_slowdown = slowdown.mean;
        figures_.p95_slowdown = slowdown.p95;
        figures_.max_slowdown = slowdown.most;
    }

    void take_fairness()
    {
        std::vector<double> values;
        for (const JobFigures& job : jobs_) {
            if (!std::isnan(job.fairness)) values.push_back(job.fairness); // NaN: a job without work
        }
        const auto unfair = std::count_if(values.begin(), values.end(), [](double one) { return one > kUnfairFrom; });
        figures_.unfair_share =
            values.empty() ? kNoFigure : static_cast<double>(unfair) / static_cast<double>(values.size());
        const Distribution fairness = distribution_of(std::move(values));
        figures_.mean_finish_time_fairness = fairness.mean;
        figures_.p95_finish_time_fairness = fairness.p95;
    }

    Figures figures_;
    double energy_j_ = 0;
    std::vector<double> errors_;
    std::vector<JobFigures> jobs_;
};

/// Unit-time between the first counted arrival and the last.
struct UnitTime {
    double busy_unit_s = 0;
    double unit_s = 0; ///< in order
    double idle_energy_j = 0;
};

/// @param center  index; nothing: of all.
UnitTime unit_time(const Scenario& scenario, const SimulationResult& result, std::optional<std::size_t> center)
{
    const double span_s = result.counted_to_s - result.counted_from_s;
    UnitTime sum;
    for (std::size_t i = 0; i < scenario.network.unit_types.size(); ++i) {
        const UnitType& type = scenario.network.unit_types[i];
        if (center && type.center != *center) continue;
        const double unit_s = static_cast<double>(type.unit_count) * span_s - result.broken_unit_s[i];
        sum.unit_s += unit_s;
        sum.busy_unit_s += result.busy_unit_s[i];
        sum.idle_energy_j += std::max(unit_s - result.busy_unit_s[i], 0.0) * type.idle_power_w;
    }
    return sum;
}

} // namespace

PolicyRun figure_out(const Scenario& scenario, std::string policy, std::uint64_t seed, SimulationResult result)
{
    const Network& network = scenario.network;
    const Workload& workload = scenario.workload;
    Tally all;
    std::vector<Tally> by_project(workload.projects.size());
    std::vector<Tally> by_center(network.centers.size());
    JobFigurer figurer(scenario);
    const double known_until_s = result.was_stopped ? result.end_s : std::numeric_limits<double>::infinity();
    for (std::size_t i = workload.first_counted; i < workload.end_counted; ++i) {
        const Job& job = workload.jobs[i];
        const JobOutcome& outcome = result.jobs[i];
        Tally* const center = outcome.attempts > 0 ? &by_center[network.unit_types[outcome.unit_type].center] : nullptr;
        for (Tally* const tally : {&all, &by_project[job.project], center}) {
            if (tally) tally->add(job, outcome, workload.details[job.details], known_until_s);
        }
        if (outcome.state != JobState::kEnded) continue;
        const JobFigures figures = figurer.of(job, outcome);
        for (Tally* const tally : {&all, &by_project[job.project], center}) {
            if (tally) tally->add_ended(figures);
        }
    }

    PolicyRun run{std::move(policy), seed, std::move(result), {}, {}, {}};
    const UnitTime time = unit_time(scenario, run.result, std::nullopt);
    run.all = std::move(all).figures(time.busy_unit_s, time.unit_s);
    run.all.idle_energy_kwh = time.idle_energy_j / kJoulesPerKwh;
    for (Tally& tally : by_project)
        run.by_project.push_back(std::move(tally).figures(0, 0));
    for (std::size_t center = 0; center < by_center.size(); ++center) {
        const UnitTime own = unit_time(scenario, run.result, center);
        run.by_center.push_back(std::move(by_center[center]).figures(own.busy_unit_s, own.unit_s));
    }
    return run;
}

} // namespace fathom::simulation
