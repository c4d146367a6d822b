#pragma once

#include "core/base/clock.hpp"
#include "core/model/probe_task.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// The newest measurement of one operator at one size on one unit of some type.
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
};

/// One operator of a job with its work per execution (from the manifest's formulas).
struct OperatorDemand {
    std::string operator_id;
    std::string parameters_key;
    std::int64_t count{1};
    double operations{};
    double bytes{};
};

/// How the time of one operator was obtained.
enum class PredictionBasis {
    kMeasured,     ///< this operator at this size
    kInterpolated, ///< this operator between two measured sizes
    kScaled,       ///< this operator at the nearest measured size, by the ratio of work
    kUnknown,      ///< never measured on this unit type
};
std::string_view to_string(PredictionBasis basis);

struct OperatorPrediction {
    std::string operator_id;
    std::string parameters_key;
    std::int64_t count{1};
    PredictionBasis basis{PredictionBasis::kUnknown};
    double execution_s{}; ///< one execution
    double total_s{};     ///< count × execution_s
    double low_s{};
    double high_s{};
    std::string probe_run_id; ///< the evidence
    std::optional<Timestamp> measured_at;
};

struct RunPrediction {
    double run_s{}; ///< start_up_s + Σ total_s
    double low_s{};
    double high_s{};
    double start_up_s{};
    std::vector<OperatorPrediction> operators;
    std::int64_t unknown_operators{}; ///< their time is not in run_s
};

/// Predicts how long a job's operators take on one unit (M23, first version): Σ count × time per
/// execution. A size that was not measured is interpolated between the two nearest measured sizes on a
/// log-log scale of its work, or scaled from the nearest one; its interval is widened by the distance.
/// The start-up time is the median of what the probes' processes needed on these units.
/// @param measured  of one unit type, in any order.
RunPrediction predict_run(std::span<const OperatorDemand> demands, std::span<const MeasuredOperator> measured);

} // namespace fathom
