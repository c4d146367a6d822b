#include "server/routing/catalog_scores.hpp"

#include "core/decide/aggregate_score.hpp"

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

double score_of_scored_parts(const MetricPolicy& policy, const AggregateScore& whole,
                             std::span<const MeasuredOperator> measured, const ManifestLookup& manifests)
{
    std::vector<AggregatePart> scored;
    double weight = 0;
    for (const ScoredPart& part : whole.parts) {
        if (!part.score) continue;
        scored.push_back(part.part);
        weight += part.part.weight;
    }
    if (scored.empty() || !(weight > 0)) return kAssumedScore;
    for (AggregatePart& part : scored)
        part.weight /= weight;
    const AggregateScore partial = aggregate_score(policy, std::move(scored), measured, manifests);
    return partial.score ? partial.score->value : kAssumedScore;
}

} // namespace

void assign_scores(CatalogSnapshot& catalog, const MetricPolicy& policy)
{
    std::set<std::string> measured;
    for (const UnitTypeView& view : catalog.unit_types) {
        for (const MeasuredOperator& one : view.measured)
            measured.insert(one.operator_id);
    }
    const ManifestLookup manifests = catalog.manifests();
    const std::vector<AggregatePart> parts = parts_of_unit_type(policy, operators_in_use(catalog), measured);
    for (UnitTypeView& view : catalog.unit_types) {
        const AggregateScore whole = aggregate_score(policy, parts, view.measured, manifests);
        view.score = whole.score ? whole.score->value : score_of_scored_parts(policy, whole, view.measured, manifests);
    }
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
