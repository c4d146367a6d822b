#include "core/decide/run_history.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/run_calibration.hpp"
#include "core/decide/run_levels.hpp"
#include "core/decide/typical_time.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// What a limit that is no time counts as, relative to the run time.
constexpr double kLeastLimit = 1e-3;

/// How far a limit of an interval is away, on the log scale.
double log_distance(double limit_s, double run_s)
{
    return std::abs(portable::log(std::max(limit_s / run_s, kLeastLimit)));
}

} // namespace

struct RunHistory::Model {
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

RunHistory::RunHistory(std::span<const PastRun> runs, Timestamp now)
{
    RunCalibrations calibrations = calibrate(runs, now);
    auto model = std::make_shared<Model>();
    model->levels = RunLevels(runs, now);
    model->times = TypicalTimes(runs, now);
    model->width_factor = calibrations.all.width_factor;
    for (const auto& [unit_type, calibration] : calibrations.by_unit_type)
        model->width_factors.emplace(unit_type, calibration.width_factor);
    calibration_ = calibrations.all;
    by_unit_type_ = std::move(calibrations.by_unit_type);
    by_job_type_ = std::move(calibrations.by_job_type);
    model_ = std::move(model);
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

RunCorrection RunHistory::correction(std::string_view job_type, std::string_view unit_type) const
{
    if (!model_) return {};
    if (const RunAnswer* answer = model_->find_answer(job_type, unit_type)) return answer->correction;
    RunCorrection correction = model_->levels.find(job_type, unit_type);
    const auto width = model_->width_factors.find(unit_type);
    correction.width_factor = width == model_->width_factors.end() ? model_->width_factor : width->second;
    return correction;
}

std::optional<RunEstimate> RunHistory::estimate(std::string_view job_type, std::string_view unit_type) const
{
    if (!model_) return {};
    if (const RunAnswer* answer = model_->find_answer(job_type, unit_type)) return answer->estimate;
    return model_->times.find(job_type, unit_type);
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
