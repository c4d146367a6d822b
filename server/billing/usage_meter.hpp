#pragma once

#include "server/billing/usage_metering_store.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/catalog/catalog_scores.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// Turns what has ended into usage: attempts of jobs and probes, what centers reported late, stored bytes,
/// reservations. Thread-safe; replicas that meter at once do it one after the other. The catalog must outlive it.
class UsageMeter {
  public:
    UsageMeter(const CatalogCache& catalog, CatalogCache::PolicySource policy)
        : catalog_(&catalog), policy_(std::move(policy))
    {
    }

    /// Unit types that ended attempts had, and what their scores count by now. Empty: no attempt is due.
    struct Due {
        std::vector<std::string> unit_types;
        std::optional<MetricPolicy> policy;
    };
    /// As they count in usage.
    struct Judged {
        std::vector<MeteredUnitType> unit_types;
        std::vector<std::string> gone; ///< have left the catalog meanwhile
    };

    Due find_due(pqxx::work& transaction) const;
    /// Only computes; to be run where that keeps nobody waiting.
    Judged judge(const Due& due) const;
    /// Meters at most 2 000 attempts of these unit types, and all of the rest that is due, inside the caller's
    /// transaction. Blocks. @return records that were written.
    std::int64_t meter(pqxx::work& transaction, Judged judged) const;

  private:
    /// How the unit types of one catalog score by one policy.
    struct Scoring;

    /// What it takes to score is laid out once for a catalog and a policy.
    std::shared_ptr<const Scoring> scoring_of(CatalogPointer catalog, MetricPolicy policy) const;

    const CatalogCache* catalog_;
    const CatalogCache::PolicySource policy_;
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Scoring> scoring_; ///< the last one
};

/// Thousandths of a point, as usage has them; at most 10^9 points.
std::int64_t to_score_milli(double score);

/// The evidence of a score: the policy, and for each operator its size, weight, score and the probe runs whose
/// results made it.
Json score_evidence(const std::string& policy, const UnitTypeView& view, const UnitScore& score);

} // namespace fathom::server
