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

/// A size as others are compared with it.
struct DemandSize {
    double work{};
    double log_intensity{};

    explicit DemandSize(const OperatorDemand& demand)
        : work(size_work(demand.operations, demand.bytes)),
          log_intensity(size_log_intensity(demand.operations, demand.bytes))
    {
    }
    /// How unlike it is to a measured one: in work, and in shape, which shows in operations per byte.
    double distance(const MeasuredOperator& measured) const
    {
        return portable::hypot(portable::log(work_of(measured) / work),
                               size_log_intensity(measured.operations, measured.bytes) - log_intensity);
    }
};

/// Of two measurements of the same work the newer counts, then the smaller run id, so that order does not matter.
bool is_newer(const MeasuredOperator& a, const MeasuredOperator& b)
{
    return a.measured_at != b.measured_at ? a.measured_at > b.measured_at : a.probe_run_id < b.probe_run_id;
}

/// The newest of this very size; nullptr: there is none.
const MeasuredOperator* find_exact(const OperatorDemand& demand, std::span<const MeasuredOperator> measured)
{
    const MeasuredOperator* found = nullptr;
    for (const MeasuredOperator& one : measured) {
        const bool is_same = one.parameters_key == demand.parameters_key && one.operator_id == demand.operator_id;
        if (is_same && (found == nullptr || is_newer(one, *found))) found = &one;
    }
    return found;
}

/// A measured size next to another.
struct Neighbour {
    const MeasuredOperator* measured = nullptr; ///< nullptr: there is none
    double distance{};

    void take_nearer(const MeasuredOperator& other, double away)
    {
        const bool is_nearer = measured == nullptr || away < distance;
        if (is_nearer || (away == distance && is_newer(other, *measured))) *this = {&other, away};
    }
};

/// The nearest at or below a work, and the nearest at or above it.
struct Neighbours {
    Neighbour below;
    Neighbour above;
};

Neighbours find_neighbours(const std::string& operator_id, const DemandSize& size,
                           std::span<const MeasuredOperator> measured)
{
    Neighbours found;
    for (const MeasuredOperator& one : measured) {
        if (one.operator_id != operator_id) continue;
        const double away = size.distance(one);
        if (work_of(one) <= size.work) found.below.take_nearer(one, away);
        if (work_of(one) >= size.work) found.above.take_nearer(one, away);
    }
    return found;
}

/// From one measured size, by the ratio of work.
ExecutionTime scale_from(const MeasuredOperator& measured, double work, double away, PredictionBasis basis)
{
    return {.execution_s = measured.median_s * work / work_of(measured),
            .deviation = portable::hypot(deviation_of(measured), deviation_at(away)),
            .basis = basis,
            .evidence = &measured};
}

/// Between two measured sizes: a straight line through log(work), log(time).
ExecutionTime interpolate(const Neighbours& sides, double work)
{
    const MeasuredOperator& below = *sides.below.measured;
    const MeasuredOperator& above = *sides.above.measured;
    const double from = portable::log(work_of(below));
    const double share = (portable::log(work) - from) / (portable::log(work_of(above)) - from);
    const double measured = portable::hypot((1 - share) * deviation_of(below), share * deviation_of(above));
    const double away = std::min(sides.below.distance, sides.above.distance);
    return {.execution_s = portable::exp((1 - share) * portable::log(std::max(below.median_s, 1e-12)) +
                                         share * portable::log(std::max(above.median_s, 1e-12))),
            .deviation = portable::hypot(measured, deviation_at(away)),
            .basis = PredictionBasis::kInterpolated,
            .evidence = share < 0.5 ? &below : &above};
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

std::string_view to_string(RawBasis basis)
{
    switch (basis) {
    case RawBasis::kOperators:
        return "operators";
    case RawBasis::kReference:
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

ExecutionTime execution_time(const OperatorDemand& demand, std::span<const MeasuredOperator> measured,
                             const EstimateSource& missing)
{
    if (const MeasuredOperator* exact = find_exact(demand, measured))
        return scale_from(*exact, work_of(*exact), 0, PredictionBasis::kMeasured);
    const DemandSize size(demand);
    const Neighbours sides = find_neighbours(demand.operator_id, size, measured);
    const MeasuredOperator* const below = sides.below.measured;
    const MeasuredOperator* const above = sides.above.measured;
    if (below != nullptr && above != nullptr && work_of(*below) < work_of(*above)) return interpolate(sides, size.work);
    if (below != nullptr) return scale_from(*below, size.work, sides.below.distance, PredictionBasis::kScaled);
    if (above != nullptr) return scale_from(*above, size.work, sides.above.distance, PredictionBasis::kScaled);
    if (missing.estimates == nullptr) return {};
    const auto estimate = missing.estimates->find(demand.operator_id, demand.parameters_key, missing.unit_type);
    if (!estimate) return {};
    return {
        .execution_s = estimate->execution_s, .deviation = estimate->deviation, .basis = PredictionBasis::kEstimated};
}

OperatorPrediction predict_operator(const OperatorDemand& demand, std::span<const MeasuredOperator> measured,
                                    const EstimateSource& missing)
{
    const ExecutionTime time = execution_time(demand, measured, missing);
    OperatorPrediction prediction;
    prediction.operator_id = demand.operator_id;
    prediction.parameters_key = demand.parameters_key;
    prediction.count = demand.count;
    prediction.basis = time.basis;
    prediction.execution_s = time.execution_s;
    prediction.total_s = static_cast<double>(demand.count) * time.execution_s;
    prediction.low_s = prediction.total_s * portable::exp(-kWidthOf80Percent * time.deviation);
    prediction.high_s = prediction.total_s * portable::exp(kWidthOf80Percent * time.deviation);
    prediction.remainder = demand.remainder;
    if (time.evidence == nullptr) return prediction;
    prediction.probe_run_id = time.evidence->probe_run_id;
    prediction.measured_at = time.evidence->measured_at;
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
