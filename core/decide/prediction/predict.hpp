#pragma once

#include "core/base/clock.hpp"
#include "core/model/probe_task.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// What was measured of one operator at one size on one unit of some type: a result, or several together
/// (core/decide/prediction/combine_results).
struct MeasuredOperator {
    std::string operator_id;
    std::string parameters_key; ///< fathom::parameters_key of the size
    double operations{};        ///< of one execution
    double bytes{};             ///< of one execution
    double median_s{};          ///< seconds per execution
    double ci_low_s{};
    double ci_high_s{};
    double error{}; ///< relative
    double tolerance{};
    double start_up_s{}; ///< of the probe's process
    std::string probe_run_id;
    Timestamp measured_at{};
    /// Why this is no measure of memory though the operator is to be one (check_cache_rule); empty: it is, or the
    /// operator is another. The time holds all the same.
    std::string cache_verdict{};
    /// Of several results together: the probe runs of the others, the newest first; probe_run_id is the newest one's.
    std::vector<std::string> older_run_ids{};
};

/// One operator of a job with its work per execution (from the manifest's formulas).
struct OperatorDemand {
    std::string operator_id;
    std::string parameters_key;
    std::int64_t count{1};
    double operations{};
    double bytes{};
    // What follows is read where a known run is scaled (core/decide/prediction/predict_from_reference).
    double share{0};         ///< of the reference run's time, 0..1
    bool is_serial{false};   ///< the program's threads decide how many compute it, not the library: FFTW
    double similarity{1};    ///< how much of this time goes as the operator's does, 0..1; the rest as the core does
    std::string remainder{}; ///< as OperatorUse: "memory", "compute", "latency", "io"; empty for what was counted
};

/// How the time of one operator was obtained.
enum class PredictionBasis {
    kMeasured,     ///< this operator at this size
    kInterpolated, ///< this operator between two measured sizes
    kScaled,       ///< this operator at the nearest measured size, by the ratio of work
    kEstimated,    ///< never measured here; from unit types that are alike (core/decide/prediction/operator_estimate)
    kUnknown,      ///< never measured on this unit type
};
std::string_view to_string(PredictionBasis basis);

/// Half the width of a central 80 % interval of a normal distribution, in standard deviations.
inline constexpr double kWidthOf80Percent = 1.2815515655446004;

struct OperatorPrediction {
    std::string operator_id;
    std::string parameters_key;
    std::int64_t count{1};
    PredictionBasis basis{PredictionBasis::kUnknown};
    double execution_s{}; ///< one execution
    double total_s{};     ///< count × execution_s
    double low_s{};       ///< 80 % interval of total_s
    double high_s{};
    std::string remainder;    ///< as in the demand
    std::string probe_run_id; ///< the evidence
    std::optional<Timestamp> measured_at;
};

/// What measurements make a raw prediction of.
enum class RawBasis {
    kOperators, ///< the sum of a job's operators; what they do not cover is not in it
    kReference, ///< a known run of the job's type, each part scaled by the ratio of probes
};
std::string_view to_string(RawBasis basis);

struct RunPrediction {
    double run_s{}; ///< start_up_s + waiting_s + unmatched_s + Σ total_s
    double low_s{}; ///< 80 % interval of run_s
    double high_s{};
    double start_up_s{};
    std::vector<OperatorPrediction> operators;
    std::int64_t unknown_operators{};   ///< their time is not in run_s
    std::int64_t estimated_operators{}; ///< never measured there: estimated, or scaled like the rest of a known run
    RawBasis basis{RawBasis::kOperators};
    // Of a known run only; 0 elsewhere.
    double waiting_s{};     ///< part of run_s that no unit makes shorter
    double unmatched_s{};   ///< part of run_s that no operator stands for
    double unknown_share{}; ///< of the known run: operators not measured on both types, scaled like the rest
};

class OperatorEstimates;

/// What stands in for measurements that are missing (core/decide/prediction/operator_estimate).
struct EstimateSource {
    const OperatorEstimates* estimates = nullptr; ///< nullptr: nothing does
    std::string_view unit_type{};                 ///< id
};

/// How uncertain sizes are that lie a natural logarithm of `distance` away from what was measured, as a standard
/// deviation of the logarithm of time. An assumption until residuals are learned: libraries change their algorithm,
/// and data their cache level, with size.
double deviation_at(double distance);

/// Of the 95 % interval of a measurement's median, as a standard deviation of the logarithm of time.
double deviation_of(const MeasuredOperator& measured);

/// How long a job's operators take on one unit: Σ count × time per execution. A size that was not measured is
/// interpolated between the two nearest measured sizes on a log-log scale of its work, or scaled from the nearest one;
/// its interval is widened by the distance.
/// Sizes of one shape are compared by their work; where the measured ones differ in operations per byte, as a thin
/// and a square matrix product of equal work do, those nearest in both count.
/// The start-up time is the median of what the probes' processes needed on these units. Errors of the operators are
/// taken as independent: their deviations add in squares. What is never counted, the program's own work between its
/// operators, is not in it: predict_run() is who knows more.
/// @param measured  of one unit type, in any order.
RunPrediction sum_operators(std::span<const OperatorDemand> demands, std::span<const MeasuredOperator> measured,
                            const EstimateSource& missing = {});

/// How long one execution takes on one unit, and what that rests on.
struct ExecutionTime {
    double execution_s{};
    double deviation{}; ///< standard deviation of its logarithm
    PredictionBasis basis{PredictionBasis::kUnknown};
    const MeasuredOperator* evidence = nullptr; ///< of `measured`; nullptr: nothing there
};

/// The time of one execution in it.
ExecutionTime execution_time(const OperatorDemand& demand, std::span<const MeasuredOperator> measured,
                             const EstimateSource& missing = {});

/// The part of one operator in it.
OperatorPrediction predict_operator(const OperatorDemand& demand, std::span<const MeasuredOperator> measured,
                                    const EstimateSource& missing = {});

/// The start-up in it: the median of what the probes' processes needed.
double median_start_up(std::span<const MeasuredOperator> measured);

} // namespace fathom
