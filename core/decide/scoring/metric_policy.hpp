#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/probing/generate_task.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Points for a figure that lies in [from, below).
struct ScoreInterval {
    double from{};
    std::optional<double> below{}; ///< empty: everything from `from` on
    double points{};
};

/// One figure of a policy of kind "intervals".
struct ScoreFigure {
    std::string figure; ///< "time_s", "error", "rate_flops", "rate_bytes", or "start_up_s"
    double weight{1};
    std::vector<ScoreInterval> intervals; ///< ascending; together they cover [0, ∞)
};

struct MetricPolicy;

/// Another policy as part of one of kind "combined".
struct PolicyPart {
    std::string id;
    std::int64_t version{0}; ///< 0: the newest whenever it is used
    double weight{1};
    std::shared_ptr<const MetricPolicy> policy{}; ///< set by resolve_policy()
};

/// How scores of operators make one score of a category or a unit type: the weights of a weighted geometric mean.
/// For a job type they are the operators' shares of it.
struct AggregateWeights {
    /// By category, then operator; each category's sum to 1. A category that is not named: all its operators that
    /// the policy can score weigh alike.
    std::map<std::string, std::map<std::string, double>> operators;
    /// Of a unit type; they sum to 1. Empty: all categories weigh alike.
    std::map<std::string, double> categories;
};

/// How raw figures become a score (M16). Three kinds:
/// "intervals": Σ weight × points over the figures;
/// "relative": 1000 × reference time ÷ measured time × accuracy factor, which is 1 within tolerance and
/// falls to 0 at 1000 × tolerance on a log scale. Reference times are per operator and size; a size that
/// the reference lacks is scaled from the nearest by the ratio of work;
/// "combined": Σ weight × score under other policies.
struct MetricPolicy {
    enum class Kind { kIntervals, kRelative, kCombined };
    std::string id;
    std::int64_t version{1};
    std::string description;
    Kind kind{Kind::kIntervals};
    std::vector<ScoreFigure> figures;        ///< kIntervals
    std::string reference_machine;           ///< kRelative: what it is, for people
    std::vector<MeasuredOperator> reference; ///< kRelative: operator, size, operations, bytes, median_s
    std::vector<PolicyPart> parts;           ///< kCombined
    AggregateWeights aggregate;
};

/// What a document must obey.
enum class PolicyRules {
    kAll,   ///< everything: of a new one
    kShape, ///< what is needed to read it: of one that was stored when there were fewer rules
};

/// @error kInvalid  with every fault: weights must be positive and sum to 1 (within 1e-9), points be at least 0,
///                  and intervals cover [0, ∞) once: each gap and each overlap is named.
Result<MetricPolicy> parse_metric_policy(const Json& json, PolicyRules rules = PolicyRules::kAll);
Json to_json(const MetricPolicy& policy);

/// `relative-v1@2`.
std::string policy_name(const MetricPolicy& policy);

/// Reads `relative-v1`, which is version 0, or `relative-v1@2`; empty when it is neither.
struct PolicyReference {
    std::string id;
    std::int64_t version{0};
};
std::optional<PolicyReference> parse_policy_reference(const std::string& text);

} // namespace fathom
