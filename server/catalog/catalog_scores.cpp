#include "server/catalog/catalog_scores.hpp"

#include "core/decide/scoring/aggregate_score.hpp"

#include <algorithm>
#include <unordered_map>

namespace fathom::server {
namespace {

/// The newest of each operator that is not withdrawn.
std::vector<const OperatorManifest*> operators_in_use(const CatalogSnapshot& catalog)
{
    std::vector<const OperatorManifest*> in_use;
    for (const auto& [id, versions] : catalog.operators) {
        if (const OperatorVersion* newest = catalog.find_operator(id, 0)) in_use.push_back(&newest->manifest);
    }
    return in_use;
}

/// Of the parts that have a score, with weights that sum to 1 again.
UnitScore score_of_scored_parts(const MetricPolicy& policy, const AggregateScore& whole,
                                std::span<const MeasuredOperator> measured, const ManifestLookup& manifests)
{
    std::vector<AggregatePart> scored;
    double weight = 0;
    for (const ScoredPart& part : whole.parts) {
        if (!part.score) continue;
        scored.push_back(part.part);
        weight += part.part.weight;
    }
    if (scored.empty() || !(weight > 0)) return {};
    for (AggregatePart& part : scored)
        part.weight /= weight;
    AggregateScore partial = aggregate_score(policy, std::move(scored), measured, manifests);
    if (!partial.score) return {};
    return {partial.score->value, std::move(partial.parts)};
}

} // namespace

UnitScorer::UnitScorer(const CatalogSnapshot& catalog, const MetricPolicy& policy)
    : policy_(&policy), manifests_(catalog.manifests())
{
    std::set<std::string> measured;
    for (const UnitTypeView& view : catalog.unit_types) {
        for (const MeasuredOperator& one : view.measured)
            measured.insert(one.operator_id);
    }
    parts_ = parts_of_unit_type(policy, operators_in_use(catalog), measured);
}

UnitScore UnitScorer::score(const UnitTypeView& view) const
{
    AggregateScore whole = aggregate_score(*policy_, parts_, view.measured, manifests_);
    if (!whole.score) return score_of_scored_parts(*policy_, whole, view.measured, manifests_);
    return {whole.score->value, std::move(whole.parts)};
}

void assign_scores(CatalogSnapshot& catalog, const MetricPolicy& policy)
{
    const UnitScorer scorer(catalog, policy);
    for (UnitTypeView& view : catalog.unit_types)
        view.score = scorer.score(view).value;
}

void keep_scores(CatalogSnapshot& catalog, const CatalogSnapshot& previous)
{
    std::unordered_map<std::string, double> known;
    for (const UnitTypeView& view : previous.unit_types)
        known.emplace(view.id.value, view.score);
    for (UnitTypeView& view : catalog.unit_types) {
        const auto found = known.find(view.id.value);
        view.score = found == known.end() ? kAssumedScore : found->second;
    }
}

} // namespace fathom::server
