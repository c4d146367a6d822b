#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/predict.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Maps a figure to points by intervals: the first step whose `below` is greater than the figure.
struct ScoreStep {
    std::optional<double> below; ///< empty in the last step: everything else
    double points{};
};

/// One figure of a policy.
struct ScoreFigure {
    std::string figure; ///< "time_s" or "error"
    double weight{1};
    std::vector<ScoreStep> steps; ///< ascending `below`, the last one open
};

/// How raw figures become a score (M16). Two kinds:
/// "intervals": Σ weight × points over the figures;
/// "relative": 1000 × reference time ÷ measured time × accuracy factor, which is 1 within tolerance and
/// falls to 0 at 1000 × tolerance on a log scale. Reference times are per operator and size; a size that
/// the reference lacks is scaled from the nearest by the ratio of work.
struct MetricPolicy {
    enum class Kind { kIntervals, kRelative };
    std::string id;
    std::int64_t version{1};
    std::string description;
    Kind kind{Kind::kIntervals};
    std::vector<ScoreFigure> figures;        ///< kIntervals
    std::string reference_machine;           ///< kRelative: what it is, for people
    std::vector<MeasuredOperator> reference; ///< kRelative: operator, size, operations, bytes, median_s
};

/// @error kInvalid  with every field error; weights must be positive, steps ascending.
Result<MetricPolicy> parse_metric_policy(const Json& json);
Json to_json(const MetricPolicy& policy);

/// The score of one measurement under a policy; empty when a relative policy has no reference for the operator.
std::optional<double> score(const MetricPolicy& policy, const MeasuredOperator& measurement);

} // namespace fathom
