#pragma once

#include "core/decide/scoring/metric_policy.hpp"

namespace fathom {

/// Points with their 95 % interval.
struct ScoreValue {
    double value{};
    double low{};
    double high{};
};

/// The score of one measurement under a policy (M16). Its interval is what the policy makes of the interval of the
/// median time: of an "intervals" policy the least and the most points that any time within it gets; "relative" falls
/// with time, so the ends change places; a "combined" one adds its parts' ends, for they hang on the same time.
/// @param policy  from resolve_policy() when it is "combined".
/// @error kNotFound  why there is none: no reference for the operator, no work to scale by, no such figure, or arrays
///                   too small for a measure of memory.
Result<ScoreValue> score(const MetricPolicy& policy, const MeasuredOperator& measurement);

/// True when the policy has what it needs to score this operator.
bool can_score(const MetricPolicy& policy, const std::string& operator_id);

/// All of it times a factor, such as trust.
ScoreValue scaled(const ScoreValue& score, double factor);

} // namespace fathom
