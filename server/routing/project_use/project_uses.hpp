#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/project_use/project_use_store.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// The sizes of the unit types, for shares of them.
std::vector<UnitTypeSize> unit_type_sizes(const CatalogSnapshot& catalog);

/// Scores of a snapshot's unit types; kAssumedScore for others. The snapshot is not needed afterwards.
ScoreOf scores_of(const CatalogSnapshot& catalog);

/// Keeps what projects hold and have used for some seconds: fair sharing need not read it for every batch.
/// Thread-safe: two callers may read at once, and both are right.
class ProjectUses {
  public:
    /// At most `lifetime` old; reading it takes a twentieth of the time at most. Shares are those of the catalog.
    /// Blocks; pqxx's exceptions pass through.
    std::vector<ProjectUse> get(pqxx::work& transaction, const CatalogSnapshot& catalog);

    /// Units that were given to projects since; they count until it is read again.
    void add(const std::vector<TakenUnits>& started);

  private:
    using Moment = std::chrono::steady_clock::time_point;

    std::mutex mutex_;
    std::vector<ProjectUse> uses_;
    std::optional<Moment> due_;
};

/// Sets what the request's project has used, where it has a quota.
void read_use(pqxx::work& transaction, const CatalogSnapshot& catalog, RouteRequest& request);

} // namespace fathom::server
