#include "core/decide/scoring/score.hpp"

#include "core/base/portable_math.hpp"
#include "core/base/result.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/scoring/metric_policy.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace fathom {
namespace {

Error no_score(std::string why)
{
    return {Errc::kNotFound, std::move(why), {}};
}

/// A figure with the ends of its interval.
struct FigureRange {
    double value{};
    double low{};
    double high{};
};

/// Work per second; its interval is that of the time turned over.
FigureRange rate_range(double work, const MeasuredOperator& measured)
{
    return {work / measured.median_s, work / measured.ci_high_s, work / measured.ci_low_s};
}

Result<FigureRange> range_of(const std::string& figure, const MeasuredOperator& measured)
{
    if (figure == "time_s") return FigureRange{measured.median_s, measured.ci_low_s, measured.ci_high_s};
    if (figure == "error") return FigureRange{measured.error, measured.error, measured.error};
    if (figure == "start_up_s") return FigureRange{measured.start_up_s, measured.start_up_s, measured.start_up_s};
    if (figure == "rate_flops" && measured.operations > 0) return rate_range(measured.operations, measured);
    if (figure == "rate_bytes" && measured.bytes > 0) return rate_range(measured.bytes, measured);
    return no_score("the operator has no figure " + figure);
}

const ScoreInterval* interval_of(const ScoreFigure& figure, double value)
{
    for (const ScoreInterval& interval : figure.intervals) {
        if (value >= interval.from && (!interval.below || value < *interval.below)) return &interval;
    }
    return nullptr;
}

/// The points of the figure, and the least and most that any value of its range gets.
Result<ScoreValue> points_of(const ScoreFigure& figure, const FigureRange& range)
{
    const ScoreInterval* found = interval_of(figure, range.value);
    if (found == nullptr) return no_score("no interval of the policy covers this " + figure.figure);
    ScoreValue points{found->points, found->points, found->points};
    for (const ScoreInterval& interval : figure.intervals) {
        if (interval.from > range.high || (interval.below && *interval.below <= range.low)) continue;
        points.low = std::min(points.low, interval.points);
        points.high = std::max(points.high, interval.points);
    }
    return points;
}

void add(ScoreValue& sum, double weight, const ScoreValue& part)
{
    sum.value += weight * part.value;
    sum.low += weight * part.low;
    sum.high += weight * part.high;
}

Result<ScoreValue> intervals_score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    ScoreValue total;
    for (const ScoreFigure& figure : policy.figures) {
        const Result<FigureRange> range = range_of(figure.figure, measurement);
        if (!range) return range.error();
        const Result<ScoreValue> points = points_of(figure, *range);
        if (!points) return points.error();
        add(total, figure.weight, *points);
    }
    return total;
}

/// 1 within tolerance, 0 from 1000 × tolerance on, straight between on a log scale.
double accuracy_factor(double error, double tolerance)
{
    if (error <= tolerance) return 1;
    if (tolerance <= 0) return 0;
    return std::clamp(1 - portable::log10(error / tolerance) / 3, 0.0, 1.0);
}

double work_of(const MeasuredOperator& measured)
{
    return measured.operations > 0 ? measured.operations : measured.bytes;
}

/// The reference figure of just this size, else the one of the nearest work.
const MeasuredOperator* find_reference(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    const MeasuredOperator* nearest = nullptr;
    double nearest_distance = 0;
    for (const MeasuredOperator& figure : policy.reference) {
        if (figure.operator_id != measurement.operator_id || work_of(figure) <= 0 || work_of(measurement) <= 0)
            continue;
        const double distance = figure.parameters_key == measurement.parameters_key
                                    ? -1
                                    : std::abs(portable::log(work_of(measurement) / work_of(figure)));
        if (nearest == nullptr || distance < nearest_distance) {
            nearest = &figure;
            nearest_distance = distance;
        }
    }
    return nearest;
}

Result<ScoreValue> relative_score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    const MeasuredOperator* reference = find_reference(policy, measurement);
    if (reference == nullptr) return no_score("the policy has no reference figure for " + measurement.operator_id);
    const double reference_s = reference->median_s * work_of(measurement) / work_of(*reference);
    const double best = 1000 * reference_s * accuracy_factor(measurement.error, measurement.tolerance);
    return ScoreValue{best / measurement.median_s, best / measurement.ci_high_s, best / measurement.ci_low_s};
}

Result<ScoreValue> combined_score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    ScoreValue total;
    for (const PolicyPart& part : policy.parts) {
        if (part.policy == nullptr) return no_score("the policy's part " + part.id + " was not looked up");
        const Result<ScoreValue> points = score(*part.policy, measurement);
        if (!points) return no_score("under " + policy_name(*part.policy) + ": " + points.error().detail);
        add(total, part.weight, *points);
    }
    return total;
}

} // namespace

Result<ScoreValue> score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    if (!(measurement.median_s > 0) || !std::isfinite(measurement.median_s))
        return no_score("the measurement has no positive time");
    if (!measurement.cache_verdict.empty()) return no_score(measurement.cache_verdict);
    MeasuredOperator measured = measurement;
    // An interval that does not hold its own median, or reaches 0, says nothing: a rate would be without end.
    if (!(measured.ci_low_s > 0) || measured.ci_low_s > measured.median_s) measured.ci_low_s = measured.median_s;
    if (!std::isfinite(measured.ci_high_s) || measured.ci_high_s < measured.median_s)
        measured.ci_high_s = measured.median_s;
    switch (policy.kind) {
    case MetricPolicy::Kind::kIntervals:
        return intervals_score(policy, measured);
    case MetricPolicy::Kind::kRelative:
        return relative_score(policy, measured);
    case MetricPolicy::Kind::kCombined:
        return combined_score(policy, measured);
    }
    return no_score("the policy is of no known kind");
}

bool can_score(const MetricPolicy& policy, const std::string& operator_id)
{
    switch (policy.kind) {
    case MetricPolicy::Kind::kIntervals:
        return true;
    case MetricPolicy::Kind::kRelative:
        return std::any_of(policy.reference.begin(), policy.reference.end(),
                           [&](const MeasuredOperator& figure) { return figure.operator_id == operator_id; });
    case MetricPolicy::Kind::kCombined:
        return std::all_of(policy.parts.begin(), policy.parts.end(), [&](const PolicyPart& part) {
            return part.policy != nullptr && can_score(*part.policy, operator_id);
        });
    }
    return false;
}

ScoreValue scaled(const ScoreValue& score, double factor)
{
    return {score.value * factor, score.low * factor, score.high * factor};
}

} // namespace fathom
