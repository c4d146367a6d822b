#include "simulator/knowledge/run_learning.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/trust/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxRuns = 2000;

/// Short, so that a text of it needs no memory of its own, and in order of the number. Names will not do: two centers
/// may have a unit type of the same name.
std::string id_of(std::size_t index)
{
    return fmt::format("{:08}", index);
}

} // namespace

double interval_width(double deviation)
{
    constexpr double kDeviationsOf80Percent = 1.2816;
    return portable::exp(kDeviationsOf80Percent * deviation);
}

RunLearning::RunLearning(const Network& network, double raw_deviation) : raw_width_(interval_width(raw_deviation))
{
    for (std::size_t type = 0; type < network.job_types.size(); ++type)
        job_type_ids_.push_back(id_of(type));
    for (std::size_t type = 0; type < network.unit_types.size(); ++type)
        unit_type_ids_.push_back(id_of(type));
}

void RunLearning::note(const LearnedRun& run)
{
    ++news_;
    if (runs_.size() < kMaxRuns) {
        runs_.push_back(run);
        return;
    }
    runs_[oldest_] = run;
    oldest_ = (oldest_ + 1) % kMaxRuns;
}

void RunLearning::rebuild(double now_s)
{
    learn_asked(now_s);
    std::vector<PastRun> past;
    past.reserve(runs_.size());
    for (const LearnedRun& run : runs_) {
        const double share = run.is_asked ? asked_share(run.job_type, run.user, run.project).middle : 1;
        PastRun& one = past.emplace_back();
        one.job_type = job_type_ids_[run.job_type];
        one.unit_type = unit_type_ids_[run.unit_type];
        one.unit_count = run.unit_count;
        one.raw_s = run.raw_s * share;
        one.raw_low_s = one.raw_s / raw_width_;
        one.raw_high_s = one.raw_s * raw_width_;
        one.actual_s = run.actual_s;
        one.ended_at = moment_of(run.ended_s);
    }
    history_ = RunHistory(past, moment_of(now_s));
    news_ = 0;
}

void RunLearning::learn_asked(double now_s)
{
    std::vector<std::string> users;
    std::vector<std::string> projects;
    users.reserve(runs_.size());
    projects.reserve(runs_.size());
    for (const LearnedRun& run : runs_) {
        users.push_back(id_of(run.user));
        projects.push_back(id_of(run.project));
    }
    std::vector<AskedRun> asked;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const LearnedRun& run = runs_[i];
        if (!run.is_asked) continue;
        asked.push_back({.owner = users[i],
                         .project = projects[i],
                         .job_type = job_type_ids_[run.job_type],
                         .asked_s = run.raw_s,
                         .actual_s = run.actual_s,
                         .is_cut_off = false, // simulated jobs are not ended at their estimates
                         .ended_at = moment_of(run.ended_s)});
    }
    asked_ = AskedTimes(asked, moment_of(now_s));
}

EstimateShare RunLearning::asked_share(std::uint32_t job_type, std::uint32_t user, std::uint32_t project) const
{
    const std::string owner = id_of(user);
    const std::string of_project = id_of(project);
    const std::optional<AskedShare> share = asked_.find(job_type_ids_[job_type], {owner, of_project});
    return share ? EstimateShare{share->middle, share->low, share->high} : EstimateShare{};
}

LearnedCorrection RunLearning::correction(std::uint32_t job_type, std::size_t unit_type) const
{
    const RunCorrection known = history_.correction(job_type_ids_[job_type], unit_type_ids_[unit_type]);
    const RunTime raw{1, 1 / raw_width_, raw_width_};
    const RunTime run = corrected(raw, known, known.width_factor);
    return {known.factor, run.high_s / run.run_s};
}

std::vector<std::size_t> RunLearning::find_drifted(std::span<const double> measured_at_s) const
{
    std::vector<TimedResidual> residuals;
    residuals.reserve(runs_.size());
    for (const LearnedRun& run : runs_) {
        // Its raw prediction is from before the measurement that it ended after: it speaks of neither.
        const double measured_s = measured_at_s[run.unit_type];
        if (run.started_s < measured_s && measured_s < run.ended_s) continue;
        residuals.push_back({{unit_type_ids_[run.unit_type], job_type_ids_[run.job_type], run.raw_s, run.actual_s},
                             moment_of(run.ended_s)});
    }
    std::map<std::string, Timestamp> measured_at;
    for (std::size_t type = 0; type < unit_type_ids_.size(); ++type)
        measured_at.emplace(unit_type_ids_[type], moment_of(measured_at_s[type]));
    std::vector<std::size_t> drifted;
    for (const Drift& drift : find_drift(residuals, measured_at)) {
        const auto found = std::lower_bound(unit_type_ids_.begin(), unit_type_ids_.end(), drift.unit_type);
        drifted.push_back(static_cast<std::size_t>(found - unit_type_ids_.begin()));
    }
    return drifted;
}

} // namespace fathom::simulation
