#include "core/decide/scoring/aggregate_score.hpp"

#include "core/base/portable_math.hpp"
#include "core/base/result.hpp"
#include "core/decide/prediction/combine_results.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/probing/generate_task.hpp"
#include "core/decide/probing/job_type.hpp"
#include "core/decide/scoring/find_measured.hpp"
#include "core/decide/scoring/metric_policy.hpp"
#include "core/decide/scoring/score.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Of the parts without a score, so many are named.
constexpr std::size_t kNamedMissing = 5;

std::string name_of(const AggregatePart& part)
{
    if (!part.size_class.empty()) return part.operator_id + "/" + part.size_class;
    if (part.parameters_key.empty()) return part.operator_id;
    return part.operator_id + "(" + part.parameters_key + ")";
}

/// The part of a mix that `dgemm/large` or `dgemm(k=8,m=8,n=8)` names.
AggregatePart part_of_mix(const std::string& name, double share, const ManifestLookup& manifests)
{
    const std::size_t bracket = name.find('(');
    if (bracket != std::string::npos && name.ends_with(')'))
        return {name.substr(0, bracket), "", name.substr(bracket + 1, name.size() - bracket - 2), share};
    const std::size_t slash = std::min(name.find('/'), name.size());
    AggregatePart part{name.substr(0, slash), name.substr(std::min(slash + 1, name.size())), "", share};
    const OperatorManifest* manifest = manifests(part.operator_id, 0);
    if (manifest == nullptr) return part;
    for (const SizeClass& size : manifest->size_classes) {
        if (size.name == part.size_class) part.parameters_key = parameters_key(size.parameters);
    }
    return part;
}

const OperatorManifest* find(std::span<const OperatorManifest* const> operators, const std::string& id)
{
    const auto found = std::find_if(operators.begin(), operators.end(),
                                    [&](const OperatorManifest* manifest) { return manifest->id == id; });
    return found == operators.end() ? nullptr : *found;
}

/// An operator at its default size. One that the library has no longer in use is a part all the same: without it the
/// mean would be of something else.
AggregatePart part_at_default(const std::string& operator_id, const OperatorManifest* manifest, double weight)
{
    if (manifest == nullptr) return {operator_id, "", "", weight, true};
    const Parameters defaults = manifest->default_parameters();
    const SizeClass* size = size_class_of(*manifest, defaults);
    return {operator_id, size == nullptr ? "" : size->name, parameters_key(defaults), weight, true};
}

ScoredPart score_part(const MetricPolicy& policy, AggregatePart part, std::span<const MeasuredOperator> measured,
                      const ManifestLookup& manifests)
{
    ScoredPart scored{std::move(part), std::nullopt, "", "", "", std::nullopt, {}};
    const WantedSize wanted{scored.part.operator_id, scored.part.size_class, scored.part.parameters_key,
                            scored.part.is_of_memory};
    const MeasuredOperator* found = find_measured(wanted, manifests(wanted.operator_id, 0), measured);
    if (found == nullptr) {
        scored.missing = "not measured";
        return scored;
    }
    scored.parameters_key = found->parameters_key;
    scored.probe_run_id = found->probe_run_id;
    scored.measured_at = found->measured_at;
    scored.probe_run_ids = run_ids_of(*found);
    MeasuredOperator figure = *found;
    if (!scored.part.is_of_memory) figure.cache_verdict.clear();
    const Result<ScoreValue> points = score(policy, figure);
    if (points)
        scored.score = *points;
    else
        scored.missing = points.error().detail;
    return scored;
}

std::string why_missing(const std::vector<ScoredPart>& parts)
{
    std::string why;
    std::size_t count = 0;
    for (const ScoredPart& one : parts) {
        if (one.score && one.score->value >= 0) continue;
        if (++count > kNamedMissing) continue;
        why += (why.empty() ? "" : "; ") + name_of(one.part) + ": " +
               (one.score ? "a negative score has no geometric mean" : one.missing);
    }
    if (count > kNamedMissing) why += "; and " + std::to_string(count - kNamedMissing) + " more";
    return std::to_string(count) + " of " + std::to_string(parts.size()) + " operators have no score: " + why;
}

/// The mean of parts that all have scores of at least 0.
ScoreValue geometric_mean(const std::vector<ScoredPart>& parts)
{
    double total = 0;
    for (const ScoredPart& one : parts)
        total += one.part.weight;
    double sum = 0;
    double squares_below = 0;
    double squares_above = 0;
    for (const ScoredPart& one : parts) {
        const ScoreValue& s = *one.score;
        if (s.value <= 0) return {};
        const double weight = one.part.weight / total;
        sum += weight * portable::log(s.value);
        squares_below += s.low > 0 ? portable::square(weight * portable::log(s.value / s.low)) : INFINITY;
        squares_above += portable::square(weight * portable::log(s.high / s.value));
    }
    return {portable::exp(sum), portable::exp(sum - std::sqrt(squares_below)),
            portable::exp(sum + std::sqrt(squares_above))};
}

} // namespace

std::int64_t AggregateScore::missing_parts() const
{
    return std::count_if(parts.begin(), parts.end(), [](const ScoredPart& part) { return !part.score; });
}

std::vector<AggregatePart> parts_of_mix(const OperatorMix& mix, const ManifestLookup& manifests)
{
    std::vector<AggregatePart> parts;
    for (const auto& [name, share] : mix) {
        if (share > 0) parts.push_back(part_of_mix(name, share, manifests));
    }
    return parts;
}

std::vector<AggregatePart> parts_of_category(const MetricPolicy& policy, const std::string& category,
                                             std::span<const OperatorManifest* const> operators,
                                             const std::set<std::string>& measured)
{
    const auto given = policy.aggregate.operators.find(category);
    std::vector<AggregatePart> parts;
    if (given != policy.aggregate.operators.end()) {
        for (const auto& [operator_id, weight] : given->second)
            parts.push_back(part_at_default(operator_id, find(operators, operator_id), weight));
        return parts;
    }
    for (const OperatorManifest* manifest : operators) {
        if (manifest->category != category) continue;
        const bool has_own_list = policy.kind != MetricPolicy::Kind::kIntervals;
        if (has_own_list ? can_score(policy, manifest->id) : measured.contains(manifest->id))
            parts.push_back(part_at_default(manifest->id, manifest, 1));
    }
    for (AggregatePart& part : parts)
        part.weight = 1 / static_cast<double>(parts.size());
    return parts;
}

std::vector<AggregatePart> parts_of_unit_type(const MetricPolicy& policy,
                                              std::span<const OperatorManifest* const> operators,
                                              const std::set<std::string>& measured)
{
    std::map<std::string, double> weights = policy.aggregate.categories;
    if (weights.empty()) {
        for (const OperatorManifest* manifest : operators)
            weights[manifest->category] = 1;
        std::erase_if(weights, [&](const auto& one) {
            return parts_of_category(policy, one.first, operators, measured).empty();
        });
    }
    double total = 0;
    for (const auto& [category, weight] : weights)
        total += weight;
    std::vector<AggregatePart> parts;
    for (const auto& [category, weight] : weights) {
        std::vector<AggregatePart> own = parts_of_category(policy, category, operators, measured);
        // A category with a weight and nothing to score: its place stays, so that the whole has no score either.
        if (own.empty()) own.push_back({category, "*", "", 1});
        for (AggregatePart& part : own) {
            part.weight *= weight / total;
            parts.push_back(std::move(part));
        }
    }
    return parts;
}

AggregateScore aggregate_score(const MetricPolicy& policy, std::vector<AggregatePart> parts,
                               std::span<const MeasuredOperator> measured, const ManifestLookup& manifests)
{
    AggregateScore aggregate;
    for (AggregatePart& part : parts)
        aggregate.parts.push_back(score_part(policy, std::move(part), measured, manifests));
    const bool has_all = std::all_of(aggregate.parts.begin(), aggregate.parts.end(),
                                     [](const ScoredPart& one) { return one.score && one.score->value >= 0; });
    if (aggregate.parts.empty())
        aggregate.missing = "there is no operator to score by";
    else if (has_all)
        aggregate.score = geometric_mean(aggregate.parts);
    else
        aggregate.missing = why_missing(aggregate.parts);
    return aggregate;
}

} // namespace fathom
