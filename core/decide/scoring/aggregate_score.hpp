#pragma once

#include "core/decide/probing/job_type.hpp"
#include "core/decide/scoring/score.hpp"

#include <set>
#include <span>

/// One score for a job type, a category of operators, or a whole unit type: the weighted geometric mean of the scores
/// of operators, exp(Σ w ln s) with weights that sum to 1. It is the only mean by which it does not matter which
/// machine 1000 stands for.
namespace fathom {

/// An operator as part of an aggregate.
struct AggregatePart {
    std::string operator_id;
    std::string size_class;     ///< empty: only just these parameters
    std::string parameters_key; ///< preferred within the class; empty with a class: the class's own
    double weight{};
    /// The operator stands for what the unit can do, so that of one that measures memory only that counts. Else for a
    /// job's own sizes, which may lie in caches there as well as here.
    bool is_of_memory{};
};

/// A part with the score of the measurement that stands for it.
struct ScoredPart {
    AggregatePart part;
    std::optional<ScoreValue> score;
    std::string missing; ///< why there is no score
    // The evidence; empty when it was not measured.
    std::string parameters_key; ///< the size that was measured
    std::string probe_run_id;   ///< of the newest result
    std::optional<Timestamp> measured_at;
    std::vector<std::string> probe_run_ids; ///< of all results that count together, the newest first
};

struct AggregateScore {
    /// Empty when one part has none: never a mean of what happens to be there.
    std::optional<ScoreValue> score;
    std::string missing; ///< why there is no score
    std::vector<ScoredPart> parts;

    std::int64_t missing_parts() const;
};

/// What a job type is scored by: the parts of its mix, weights their shares.
std::vector<AggregatePart> parts_of_mix(const OperatorMix& mix, const ManifestLookup& manifests);

/// What a category is scored by: its operators at their default sizes, or at larger ones of the same class where the
/// unit's caches asked for them (size_beyond_caches), with the policy's weights; where it names none,
/// all that it can score, alike. A policy of intervals can score any; of those, only the ones in `measured` count:
/// operators that some unit type of the network has been measured with.
/// @param operators  the library's, those in use.
std::vector<AggregatePart> parts_of_category(const MetricPolicy& policy, const std::string& category,
                                             std::span<const OperatorManifest* const> operators,
                                             const std::set<std::string>& measured);

/// What a unit type is scored by: the parts of the categories, times the policy's weights of them; where it has none,
/// all categories with parts weigh alike.
std::vector<AggregatePart> parts_of_unit_type(const MetricPolicy& policy,
                                              std::span<const OperatorManifest* const> operators,
                                              const std::set<std::string>& measured);

/// The weighted geometric mean over `parts`, each scored by its measurement on one unit.
///
/// Interval: operators are measured independently of each other, so in logarithms squared distances add:
/// low = s · exp(−√Σ (w ln(s_i/low_i))²), high = s · exp(√Σ (w ln(high_i/s_i))²). A part of 0 points makes all 0.
/// @param measured  of one unit type and one unit, in any order.
AggregateScore aggregate_score(const MetricPolicy& policy, std::vector<AggregatePart> parts,
                               std::span<const MeasuredOperator> measured, const ManifestLookup& manifests);

} // namespace fathom
