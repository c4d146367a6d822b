#include "core/decide/predict.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// How much the interval of a prediction widens for each factor of e between the predicted and the measured
/// work. An assumption until residuals are learned: libraries change algorithm and cache level with size.
constexpr double kWideningPerLogWork = 0.10;

/// The work by which sizes of one operator are compared: operations, or bytes for operators without any.
double work_of(double operations, double bytes)
{
    return operations > 0 ? operations : std::max(bytes, 1.0);
}

double work_of(const MeasuredOperator& measured)
{
    return work_of(measured.operations, measured.bytes);
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
    const double work = work_of(demand.operations, demand.bytes);
    Neighbours found;
    for (const MeasuredOperator& candidate : measured) {
        if (candidate.operator_id != demand.operator_id) continue;
        const double other = work_of(candidate);
        if (candidate.parameters_key == demand.parameters_key && (!found.exact || is_newer(candidate, *found.exact)))
            found.exact = &candidate;
        const auto closer = [&](const MeasuredOperator* current) {
            if (current == nullptr) return true;
            const double distance = std::abs(std::log(other / work));
            const double best = std::abs(std::log(work_of(*current) / work));
            return distance != best ? distance < best : is_newer(candidate, *current);
        };
        if (other <= work && closer(found.below)) found.below = &candidate;
        if (other >= work && closer(found.above)) found.above = &candidate;
    }
    return found;
}

/// Time of one execution from one measured size, by the ratio of work.
void scale_from(const MeasuredOperator& measured, double work, OperatorPrediction& prediction)
{
    const double ratio = work / work_of(measured);
    const double widening = 1 + kWideningPerLogWork * std::abs(std::log(ratio));
    prediction.basis = PredictionBasis::kScaled;
    prediction.execution_s = measured.median_s * ratio;
    prediction.low_s = measured.ci_low_s * ratio / widening;
    prediction.high_s = measured.ci_high_s * ratio * widening;
    prediction.probe_run_id = measured.probe_run_id;
    prediction.measured_at = measured.measured_at;
}

/// Time of one execution between two measured sizes: a straight line through log(work), log(time).
void interpolate(const MeasuredOperator& below, const MeasuredOperator& above, double work,
                 OperatorPrediction& prediction)
{
    const double from = std::log(work_of(below));
    const double to = std::log(work_of(above));
    const double share = (std::log(work) - from) / (to - from);
    const auto between = [&](double low, double high) {
        return std::exp((1 - share) * std::log(std::max(low, 1e-12)) + share * std::log(std::max(high, 1e-12)));
    };
    const double widening = 1 + kWideningPerLogWork * std::min(std::log(work) - from, to - std::log(work));
    prediction.basis = PredictionBasis::kInterpolated;
    prediction.execution_s = between(below.median_s, above.median_s);
    prediction.low_s = between(below.ci_low_s, above.ci_low_s) / widening;
    prediction.high_s = between(below.ci_high_s, above.ci_high_s) * widening;
    const MeasuredOperator& nearest = share < 0.5 ? below : above;
    prediction.probe_run_id = nearest.probe_run_id;
    prediction.measured_at = nearest.measured_at;
}

OperatorPrediction predict_operator(const OperatorDemand& demand, std::span<const MeasuredOperator> measured)
{
    OperatorPrediction prediction;
    prediction.operator_id = demand.operator_id;
    prediction.parameters_key = demand.parameters_key;
    prediction.count = demand.count;
    const double work = work_of(demand.operations, demand.bytes);
    const Neighbours found = find_neighbours(demand, measured);
    if (found.exact != nullptr) {
        scale_from(*found.exact, work_of(*found.exact), prediction);
        prediction.basis = PredictionBasis::kMeasured;
    } else if (found.below != nullptr && found.above != nullptr && work_of(*found.below) < work_of(*found.above)) {
        interpolate(*found.below, *found.above, work, prediction);
    } else if (found.below != nullptr || found.above != nullptr) {
        scale_from(found.below != nullptr ? *found.below : *found.above, work, prediction);
    }
    const auto executions = static_cast<double>(demand.count);
    prediction.total_s = executions * prediction.execution_s;
    prediction.low_s *= executions;
    prediction.high_s *= executions;
    return prediction;
}

double median_start_up(std::span<const MeasuredOperator> measured)
{
    std::vector<double> times;
    for (const MeasuredOperator& one : measured)
        times.push_back(one.start_up_s);
    if (times.empty()) return 0;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
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
    case PredictionBasis::kUnknown:
        return "unknown";
    }
    return "unknown";
}

RunPrediction predict_run(std::span<const OperatorDemand> demands, std::span<const MeasuredOperator> measured)
{
    RunPrediction run;
    run.start_up_s = median_start_up(measured);
    run.run_s = run.low_s = run.high_s = run.start_up_s;
    for (const OperatorDemand& demand : demands) {
        OperatorPrediction prediction = predict_operator(demand, measured);
        if (prediction.basis == PredictionBasis::kUnknown) ++run.unknown_operators;
        run.run_s += prediction.total_s;
        run.low_s += prediction.low_s;
        run.high_s += prediction.high_s;
        run.operators.push_back(std::move(prediction));
    }
    return run;
}

} // namespace fathom
