#include "core/decide/history/run_history.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/asked_times.hpp"
#include "core/decide/history/recent_runs.hpp"
#include "core/decide/history/run_calibration.hpp"
#include "core/decide/history/run_levels.hpp"
#include "core/decide/history/typical_time.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/prediction/predict_run.hpp"
#include "core/decide/prediction/predict_units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

using RunsByName = std::map<std::string, std::vector<PastRun>, std::less<>>;

/// What a limit that is no time counts as, relative to the run time.
constexpr double kMinLimit = 1e-3;

/// How far a limit of an interval is away, on the log scale.
double log_distance(double limit_s, double run_s)
{
    return std::abs(portable::log(std::max(limit_s / run_s, kMinLimit)));
}

/// Those that were not ended at their limit.
/// @param copies  where they are kept when there are others.
std::span<const PastRun> finished_runs(std::span<const PastRun> runs, std::vector<PastRun>& copies)
{
    const auto is_cut_off = [](const PastRun& run) { return run.is_cut_off; };
    if (std::none_of(runs.begin(), runs.end(), is_cut_off)) return runs;
    std::remove_copy_if(runs.begin(), runs.end(), std::back_inserter(copies), is_cut_off);
    return copies;
}

/// People ask for the same time wherever their jobs run: what is slow there is no fault of theirs.
std::vector<AskedRun> asked_runs(std::span<const PastRun> runs, const TypicalTimes& times)
{
    std::vector<AskedRun> asked;
    for (const PastRun& run : runs) {
        if (!is_time(run.asked_s)) continue;
        asked.push_back({.owner = run.owner,
                         .project = run.project,
                         .job_type = run.job_type,
                         .asked_s = run.asked_s * times.time_ratio(run.unit_type).ratio,
                         .actual_s = run.actual_s,
                         .is_cut_off = run.is_cut_off,
                         .ended_at = run.ended_at});
    }
    return asked;
}

} // namespace

struct RunHistory::Model {
    std::set<std::string, std::less<>> job_types; ///< that it has runs of
    RunLevels by_operators;
    RunLevels by_reference;
    RecentRuns recent;
    TypicalTimes times;
    std::array<RungCalibration, kRungs> by_rung; ///< RunCalibrations::by_rung
    /// Of a history that was rebuilt: by job type and unit type.
    std::map<std::string, std::map<std::string, RunAnswer, std::less<>>, std::less<>> answers;

    const RunLevels& levels(RawBasis basis) const
    {
        return basis == RawBasis::kReference ? by_reference : by_operators;
    }
    const RungCalibration& on(Rung rung) const { return by_rung[static_cast<std::size_t>(rung)]; }
    const RunAnswer* find_answer(std::string_view job_type, std::string_view unit_type) const
    {
        const auto type = answers.find(job_type);
        if (type == answers.end()) return nullptr;
        const auto answer = type->second.find(unit_type);
        return answer == type->second.end() ? nullptr : &answer->second;
    }
};

std::shared_ptr<const RunHistory::Model> RunHistory::make_model(std::span<const PastRun> runs, Timestamp now,
                                                                const RunCalibrations& calibrations)
{
    auto model = std::make_shared<Model>();
    for (const PastRun& run : runs)
        model->job_types.insert(run.job_type);
    model->by_operators = RunLevels(runs, now, RawBasis::kOperators);
    model->by_reference = RunLevels(runs, now, RawBasis::kReference);
    model->recent = RecentRuns(runs, now);
    model->times = TypicalTimes(runs, now);
    model->by_rung = calibrations.by_rung;
    return model;
}

RunHistory::RunHistory(std::span<const PastRun> runs, Timestamp now)
    : runs_(std::make_shared<const std::vector<PastRun>>(runs.begin(), runs.end())), learned_at_(now)
{
    std::vector<PastRun> copies;
    const std::span<const PastRun> finished = finished_runs(runs, copies);
    RunCalibrations calibrations = calibrate(finished, now);
    model_ = make_model(finished, now, calibrations);
    asked_times_ = std::make_shared<const AskedTimes>(asked_runs(runs, model_->times), now);
    calibration_ = calibrations.all;
    by_unit_type_ = std::move(calibrations.by_unit_type);
    by_job_type_ = std::move(calibrations.by_job_type);
    RunsByName of_owners;
    RunsByName of_projects;
    for (const PastRun& run : finished) {
        if (!run.owner.empty()) of_owners[run.owner].push_back(run);
        if (!run.project.empty()) of_projects[run.project].push_back(run);
    }
    for (const auto& [name, own] : of_owners)
        by_owner_.emplace(name, make_model(own, now, calibrate(own, now)));
    for (const auto& [name, own] : of_projects)
        by_project_.emplace(name, make_model(own, now, calibrate(own, now)));
}

const RunHistory::Model* RunHistory::find_model(std::string_view job_type, RunOwner owner) const
{
    const auto find = [](const Models& models, std::string_view name) -> const Model* {
        const auto found = name.empty() ? models.end() : models.find(name);
        return found == models.end() ? nullptr : found->second.get();
    };
    if (owner.owner.empty()) return model_.get();
    const Model* const own = find(by_owner_, owner.owner);
    if (own != nullptr && own->job_types.contains(job_type)) return own;
    const Model* const project = find(by_project_, owner.project);
    if (project != nullptr && project->job_types.contains(job_type)) return project;
    if (own != nullptr) return own;
    return project != nullptr ? project : model_.get();
}

RunHistory RunHistory::from(std::span<const RunAnswer> answers)
{
    auto model = std::make_shared<Model>();
    for (const RunAnswer& answer : answers)
        model->answers[answer.job_type].emplace(answer.unit_type, answer);
    RunHistory history;
    history.model_ = std::move(model);
    return history;
}

namespace {

/// The deviation of a raw prediction's logarithm, as its interval admits.
double deviation_of(const RunTime& raw)
{
    if (!is_time(raw.run_s)) return 0;
    return (log_distance(raw.low_s, raw.run_s) + log_distance(raw.high_s, raw.run_s)) / (2 * kWidthOf80Percent);
}

/// The level of the job type, and the runs of the type there, by their variances.
RunCorrection combine(const RunLevels::Level& level, const RecentRuns::Answer& runs, const RunTime& raw)
{
    const double noise = portable::square(runs.noise);
    const double of_mean = noise / std::max(runs.weight, 1e-9);
    const double usual = level.variance + portable::square(deviation_of(raw));
    // How far off the raw prediction is there the runs tell themselves: where that is more than usual, more is to be
    // learned.
    const double unknown = std::max(usual, portable::square(runs.log_ratio - level.log_factor) - of_mean);
    const double own = unknown / (unknown + of_mean);
    const double rest = portable::square(1 - own) * level.variance;
    return {.factor = portable::exp(level.log_factor + own * (runs.log_ratio - level.log_factor)),
            .deviation = std::sqrt(noise + portable::square(own) * of_mean + rest),
            .raw_share = 1 - own,
            .own_share = own,
            .job_count = runs.count,
            .like_count = level.run_count,
            .knows_type = true};
}

/// A known run is of one unit.
class OnOneUnit : public RunByCount {
  public:
    explicit OnOneUnit(double run_s) : single_{run_s, run_s, run_s} {}
    RunTime at(std::int64_t unit_count) const override { return unit_count == 1 ? single_ : RunTime(); }
    std::int64_t largest_known() const override { return 1; }

  private:
    RunTime single_;
};

} // namespace

double RunHistory::known_run_factor(std::string_view job_type, RunOwner owner, const KnownRun& known) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr || !is_time(known.run_s)) return 1;
    const OnOneUnit by_count(known.run_s);
    const DividedRun run(by_count);
    const auto runs = model->recent.find(job_type, known.unit_type, run);
    // A single run on one unit there is the known one itself.
    if (!runs || runs->compared < 2) return 1;
    const RunLevels::Level level = model->by_reference.level(job_type);
    return combine(level, *runs, run.at(1)).factor / portable::exp(level.log_factor);
}

RunCorrection RunHistory::correction(std::string_view job_type, std::string_view unit_type, RunOwner owner,
                                     const RawPrediction& raw) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return {};
    if (const RunAnswer* answer = model->find_answer(job_type, unit_type)) return answer->correction;
    const RunLevels& levels = model->levels(raw.basis);
    RunCorrection correction;
    Rung rung = Rung::kRuns;
    if (raw.is_of_own_work || raw.run == nullptr) {
        correction = levels.find(job_type, unit_type);
        if (correction.job_count == 0) rung = rung_of(raw.basis);
    } else if (const auto runs = model->recent.find(job_type, unit_type, *raw.run)) {
        RunLevels::Level level = levels.level(job_type, unit_type);
        if (!raw.is_known_run) level.log_factor += portable::log(raw.known_factor);
        correction = combine(level, *runs, raw.run->at(1));
    } else {
        correction = levels.elsewhere(job_type, unit_type);
        correction.factor *= raw.known_factor;
        rung = rung_of(raw.basis);
    }
    correction.known_factor = raw.known_factor;
    correction.width_factor = model->on(rung).width_factor(unit_type);
    return correction;
}

double RunHistory::least_factor(std::string_view job_type, RunOwner owner, const RawPrediction& raw) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return 1;
    const RunLevels& levels = model->levels(raw.basis);
    double least =
        raw.is_of_own_work ? levels.least_factor(job_type) : levels.least_elsewhere(job_type) * raw.known_factor;
    const auto answers = model->answers.find(job_type);
    if (answers == model->answers.end()) return least;
    for (const auto& [unit_type, answer] : answers->second)
        least = std::min(least, answer.correction.factor);
    return least;
}

std::vector<std::string_view> RunHistory::unit_types_with_runs(std::string_view job_type, RunOwner owner) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return {};
    std::vector<std::string_view> unit_types = model->recent.unit_types(job_type);
    const auto answers = model->answers.find(job_type);
    if (answers == model->answers.end()) return unit_types;
    for (const auto& [unit_type, answer] : answers->second)
        unit_types.push_back(unit_type);
    return unit_types;
}

std::optional<RunEstimate> RunHistory::estimate(std::string_view job_type, std::string_view unit_type, RunOwner owner,
                                                const AskedTime& asked) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return {};
    if (const RunAnswer* answer = model->find_answer(job_type, unit_type)) return answer->estimate;
    std::optional<RunEstimate> usual = model->times.find(job_type, unit_type);
    if (!asked.share) return usual;
    return combine_asked(usual, *asked.share, asked.asked_s, model_->times.time_ratio(unit_type));
}

AskedTime RunHistory::asked_time(std::string_view job_type, RunOwner owner, double asked_s) const
{
    if (!asked_times_ || !is_time(asked_s)) return {};
    std::optional<AskedShare> share = asked_times_->find(job_type, owner);
    if (!share) return {};
    return {asked_s, std::make_shared<const AskedShare>(std::move(*share))};
}

RunTime corrected(const RunTime& raw, const RunCorrection& correction, double width_factor)
{
    return corrected_beside(raw, raw, correction, width_factor);
}

RunTime corrected_beside(const RunTime& alone, const RunTime& raw, const RunCorrection& correction, double width_factor)
{
    const bool is_raw =
        correction.factor == 1 && correction.deviation == 0 && correction.raw_share == 1 && width_factor == 1;
    if (!is_time(raw.run_s) || !is_time(alone.run_s) || is_raw) return raw;
    const double own = kWidthOf80Percent * correction.deviation;
    const auto width = [&](double alone_limit_s, double limit_s) {
        const double of_run = log_distance(alone_limit_s, alone.run_s);
        const double of_neighbours = std::max(log_distance(limit_s, raw.run_s) - of_run, 0.0);
        return portable::hypot(correction.raw_share * of_run + of_neighbours, own);
    };
    const double below = width(alone.low_s, raw.low_s);
    const double above = width(alone.high_s, raw.high_s);
    const double run_s = raw.run_s * correction.factor;
    return {run_s, run_s * portable::exp(-width_factor * below), run_s * portable::exp(width_factor * above)};
}

} // namespace fathom
