#include "core/decide/prediction/predict.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/measurement/operator_size.hpp"
#include "core/decide/prediction/operator_estimate.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// As a deviation of log(time) for each factor of e between the predicted and the measured size.
constexpr double kDeviationPerLogWork = 0.05;

/// Half the width of a 95 % interval, in standard deviations.
constexpr double kWidthOf95Percent = 1.96;

double work_of(const MeasuredOperator& measured)
{
    return size_work(measured.operations, measured.bytes);
}

/// How unlike two sizes are: in work, and in shape, which shows in operations per byte.
double distance(const OperatorDemand& demand, const MeasuredOperator& measured)
{
    return portable::hypot(portable::log(work_of(measured) / size_work(demand.operations, demand.bytes)),
                           size_log_intensity(measured.operations, measured.bytes) -
                               size_log_intensity(demand.operations, demand.bytes));
}

/// The measured sizes around a work: the nearest at or below it and the nearest at or above it.
struct Neighbours {
    const MeasuredOperator* exact = nullptr;
    const MeasuredOperator* below = nullptr;
    const MeasuredOperator* above = nullptr;
};

/// Of two measurements of the same work the newer counts, then the smaller run id, so that order does not matter.
bool is_newer(const MeasuredOperator& a, const MeasuredOperator& b)
{
    return a.measured_at != b.measured_at ? a.measured_at > b.measured_at : a.probe_run_id < b.probe_run_id;
}

Neighbours find_neighbours(const OperatorDemand& demand, std::span<const MeasuredOperator> measured)
{
    const double work = size_work(demand.operations, demand.bytes);
    Neighbours found;
    for (const MeasuredOperator& candidate : measured) {
        if (candidate.operator_id != demand.operator_id) continue;
        const double other = work_of(candidate);
        if (candidate.parameters_key == demand.parameters_key && (!found.exact || is_newer(candidate, *found.exact)))
            found.exact = &candidate;
        const auto closer = [&](const MeasuredOperator* current) {
            if (current == nullptr) return true;
            const double own = distance(demand, candidate);
            const double best = distance(demand, *current);
            return own != best ? own < best : is_newer(candidate, *current);
        };
        if (other <= work && closer(found.below)) found.below = &candidate;
        if (other >= work && closer(found.above)) found.above = &candidate;
    }
    return found;
}

/// Time of one execution from one measured size, by the ratio of work. @return its deviation
double scale_from(const MeasuredOperator& measured, double work, double away, OperatorPrediction& prediction)
{
    prediction.basis = PredictionBasis::kScaled;
    prediction.execution_s = measured.median_s * work / work_of(measured);
    prediction.probe_run_id = measured.probe_run_id;
    prediction.measured_at = measured.measured_at;
    return portable::hypot(deviation_of(measured), deviation_at(away));
}

/// Time of one execution between two measured sizes: a straight line through log(work), log(time).
/// @return its deviation
double interpolate(const MeasuredOperator& below, const MeasuredOperator& above, const OperatorDemand& demand,
                   OperatorPrediction& prediction)
{
    const double work = size_work(demand.operations, demand.bytes);
    const double from = portable::log(work_of(below));
    const double share = (portable::log(work) - from) / (portable::log(work_of(above)) - from);
    prediction.basis = PredictionBasis::kInterpolated;
    prediction.execution_s = portable::exp((1 - share) * portable::log(std::max(below.median_s, 1e-12)) +
                                           share * portable::log(std::max(above.median_s, 1e-12)));
    const MeasuredOperator& nearest = share < 0.5 ? below : above;
    prediction.probe_run_id = nearest.probe_run_id;
    prediction.measured_at = nearest.measured_at;
    const double measured = portable::hypot((1 - share) * deviation_of(below), share * deviation_of(above));
    return portable::hypot(measured, deviation_at(std::min(distance(demand, below), distance(demand, above))));
}

} // namespace

std::string_view to_string(PredictionBasis basis)
{
    switch (basis) {
    case PredictionBasis::kMeasured:
        return "measured";
    case PredictionBasis::kInterpolated:
        return "interpolated";
    case PredictionBasis::kScaled:
        return "scaled";
    case PredictionBasis::kEstimated:
        return "estimated";
    case PredictionBasis::kUnknown:
        return "unknown";
    }
    return "unknown";
}

std::string_view to_string(PromiseBasis basis)
{
    switch (basis) {
    case PromiseBasis::kOperators:
        return "operators";
    case PromiseBasis::kReference:
        return "reference";
    }
    return "operators";
}

double deviation_at(double distance)
{
    return kDeviationPerLogWork * std::abs(distance);
}

double deviation_of(const MeasuredOperator& measured)
{
    if (!(measured.ci_low_s > 0) || measured.ci_high_s <= measured.ci_low_s) return 0;
    return portable::log(measured.ci_high_s / measured.ci_low_s) / (2 * kWidthOf95Percent);
}

OperatorPrediction predict_operator(const OperatorDemand& demand, std::span<const MeasuredOperator> measured,
                                    const EstimateSource& missing)
{
    OperatorPrediction prediction;
    prediction.operator_id = demand.operator_id;
    prediction.parameters_key = demand.parameters_key;
    prediction.count = demand.count;
    prediction.remainder = demand.remainder;
    const double work = size_work(demand.operations, demand.bytes);
    const Neighbours found = find_neighbours(demand, measured);
    double deviation = 0;
    if (found.exact != nullptr) {
        deviation = scale_from(*found.exact, work_of(*found.exact), 0, prediction);
        prediction.basis = PredictionBasis::kMeasured;
    } else if (found.below != nullptr && found.above != nullptr && work_of(*found.below) < work_of(*found.above)) {
        deviation = interpolate(*found.below, *found.above, demand, prediction);
    } else if (found.below != nullptr || found.above != nullptr) {
        const MeasuredOperator& nearest = found.below != nullptr ? *found.below : *found.above;
        deviation = scale_from(nearest, work, distance(demand, nearest), prediction);
    } else if (missing.estimates != nullptr) {
        const auto estimate = missing.estimates->find(demand.operator_id, demand.parameters_key, missing.unit_type);
        if (estimate) {
            prediction.basis = PredictionBasis::kEstimated;
            prediction.execution_s = estimate->execution_s;
            deviation = estimate->deviation;
        }
    }
    prediction.total_s = static_cast<double>(demand.count) * prediction.execution_s;
    prediction.low_s = prediction.total_s * portable::exp(-kWidthOf80Percent * deviation);
    prediction.high_s = prediction.total_s * portable::exp(kWidthOf80Percent * deviation);
    return prediction;
}

double median_start_up(std::span<const MeasuredOperator> measured)
{
    std::vector<double> times;
    for (const MeasuredOperator& one : measured)
        times.push_back(one.start_up_s);
    return times.empty() ? 0 : median(std::move(times));
}

RunPrediction sum_operators(std::span<const OperatorDemand> demands, std::span<const MeasuredOperator> measured,
                            const EstimateSource& missing)
{
    RunPrediction run;
    run.start_up_s = run.run_s = median_start_up(measured);
    double below = 0; // squared distances to the interval's ends
    double above = 0;
    for (const OperatorDemand& demand : demands) {
        OperatorPrediction prediction = predict_operator(demand, measured, missing);
        if (prediction.basis == PredictionBasis::kUnknown) ++run.unknown_operators;
        if (prediction.basis == PredictionBasis::kEstimated) ++run.estimated_operators;
        run.run_s += prediction.total_s;
        below += portable::square(prediction.total_s - prediction.low_s);
        above += portable::square(prediction.high_s - prediction.total_s);
        run.operators.push_back(std::move(prediction));
    }
    run.low_s = run.run_s - std::sqrt(below);
    run.high_s = run.run_s + std::sqrt(above);
    return run;
}

} // namespace fathom
