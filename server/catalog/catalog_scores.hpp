#pragma once

#include "core/decide/scoring/aggregate_score.hpp"
#include "core/decide/scoring/metric_policy.hpp"
#include "server/catalog/catalog_snapshot.hpp"

namespace fathom::server {

/// What a unit of a type counts in quotas where nothing of it has a score: as much as the reference machine of
/// policies like relative-v1. What nobody has measured is not free.
inline constexpr double kAssumedScore = 1000;

/// The score of one unit of a type, and what it is made of.
struct UnitScore {
    double value = kAssumedScore;
    std::vector<ScoredPart> parts; ///< those that it rests on; empty: it is assumed
};

/// Scores the unit types of one catalog by one policy; both must outlive it.
class UnitScorer {
  public:
    UnitScorer(const CatalogSnapshot& catalog, const MetricPolicy& policy);
    UnitScore score(const UnitTypeView& view) const;

  private:
    const MetricPolicy* policy_;
    ManifestLookup manifests_;
    std::vector<AggregatePart> parts_;
};

/// Sets the score of one unit of every unit type, for quotas in score-hours: as GET /scores has it, but without trust,
/// and where some of its operators have no score, of those that have one. kAssumedScore where none has.
void assign_scores(CatalogSnapshot& catalog, const MetricPolicy& policy);

/// Those of `previous`, by id; kAssumedScore for unit types that it does not have.
void keep_scores(CatalogSnapshot& catalog, const CatalogSnapshot& previous);

} // namespace fathom::server
