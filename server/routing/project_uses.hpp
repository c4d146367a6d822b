#pragma once

#include "server/routing/catalog_snapshot.hpp"
#include "server/routing/project_use_store.hpp"

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

/// Keeps what projects hold and have used for some seconds: fair sharing need not read it for every page.
/// Thread-safe: two callers may read at once, and both are right.
class ProjectUses {
  public:
    /// At most `lifetime` old; reading it takes a twentieth of the time at most. Shares are those of the catalog.
    /// Blocks; pqxx's exceptions pass through.
    std::vector<ProjectUse> get(pqxx::work& transaction, const CatalogSnapshot& catalog);

    /// Units that were given to a project since; they count until it is read again.
    struct Started {
        std::string project;
        std::string unit_type_id;
        std::int64_t units{};
    };
    void add(const std::vector<Started>& started);

  private:
    using Moment = std::chrono::steady_clock::time_point;

    std::mutex mutex_;
    std::vector<ProjectUse> uses_;
    std::optional<Moment> due_;
};

/// What a start at this place takes of a quota. @param score  of one unit there.
QuotaUse use_of(const Candidate& place, double score);
void add(QuotaUse& use, const QuotaUse& more);

/// Sets what the request's project has used, where it has a quota.
void read_use(pqxx::work& transaction, const CatalogSnapshot& catalog, RouteRequest& request);

/// Adds units that a project holds; the project is added where it is not there.
void add_units(std::vector<ProjectUse>& uses, const ProjectUses::Started& started);

} // namespace fathom::server
