#include "core/decide/run_history.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/run_calibration.hpp"
#include "core/decide/run_levels.hpp"
#include "core/decide/typical_time.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace fathom {
namespace {

using RunsByName = std::map<std::string, std::vector<PastRun>, std::less<>>;

/// What a limit that is no time counts as, relative to the run time.
constexpr double kLeastLimit = 1e-3;

/// How far a limit of an interval is away, on the log scale.
double log_distance(double limit_s, double run_s)
{
    return std::abs(portable::log(std::max(limit_s / run_s, kLeastLimit)));
}

} // namespace

struct RunHistory::Model {
    std::set<std::string, std::less<>> job_types; ///< that it has runs of
    RunLevels levels;
    TypicalTimes times;
    double width_factor = 1;
    std::map<std::string, double, std::less<>> width_factors; ///< by unit type
    /// Of a history that was rebuilt: by job type and unit type.
    std::map<std::string, std::map<std::string, RunAnswer, std::less<>>, std::less<>> answers;

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
    model->levels = RunLevels(runs, now);
    model->times = TypicalTimes(runs, now);
    model->width_factor = calibrations.all.width_factor;
    for (const auto& [unit_type, calibration] : calibrations.by_unit_type)
        model->width_factors.emplace(unit_type, calibration.width_factor);
    return model;
}

RunHistory::RunHistory(std::span<const PastRun> runs, Timestamp now)
    : runs_(std::make_shared<const std::vector<PastRun>>(runs.begin(), runs.end())), learned_at_(now)
{
    RunCalibrations calibrations = calibrate(runs, now);
    model_ = make_model(runs, now, calibrations);
    calibration_ = calibrations.all;
    by_unit_type_ = std::move(calibrations.by_unit_type);
    by_job_type_ = std::move(calibrations.by_job_type);
    RunsByName of_owners;
    RunsByName of_projects;
    for (const PastRun& run : runs) {
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

RunCorrection RunHistory::correction(std::string_view job_type, std::string_view unit_type, RunOwner owner) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return {};
    if (const RunAnswer* answer = model->find_answer(job_type, unit_type)) return answer->correction;
    RunCorrection correction = model->levels.find(job_type, unit_type);
    const auto width = model->width_factors.find(unit_type);
    correction.width_factor = width == model->width_factors.end() ? model->width_factor : width->second;
    return correction;
}

double RunHistory::least_factor(std::string_view job_type, RunOwner owner) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return 1;
    double least = model->levels.least_factor(job_type);
    const auto answers = model->answers.find(job_type);
    if (answers == model->answers.end()) return least;
    for (const auto& [unit_type, answer] : answers->second)
        least = std::min(least, answer.correction.factor);
    return least;
}

std::optional<RunEstimate> RunHistory::estimate(std::string_view job_type, std::string_view unit_type,
                                                RunOwner owner) const
{
    const Model* const model = find_model(job_type, owner);
    if (model == nullptr) return {};
    if (const RunAnswer* answer = model->find_answer(job_type, unit_type)) return answer->estimate;
    return model->times.find(job_type, unit_type);
}

RunTime corrected(const RunTime& promised, const RunCorrection& correction, double width_factor)
{
    const bool is_as_promised = correction.factor == 1 && correction.deviation == 0 && width_factor == 1;
    if (!is_time(promised.run_s) || is_as_promised) return promised;
    const double own = kWidthOf80Percent * correction.deviation;
    const double below = portable::hypot(log_distance(promised.low_s, promised.run_s), own);
    const double above = portable::hypot(log_distance(promised.high_s, promised.run_s), own);
    const double run_s = promised.run_s * correction.factor;
    return {run_s, run_s * portable::exp(-width_factor * below), run_s * portable::exp(width_factor * above)};
}

} // namespace fathom
