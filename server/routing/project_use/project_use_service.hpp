#pragma once

#include "server/catalog/catalog_cache.hpp"
#include "server/routing/project_use/project_uses.hpp"

#include <string>

namespace fathom::server {

/// What projects use of the network. Thread-safe. The references must outlive it.
class ProjectUseService {
  public:
    ProjectUseService(Database& database, const CatalogCache& catalog) : database_(&database), catalog_(&catalog) {}

    /// What a project holds and has used in this month (UTC), against its quotas, and where it stands in fair sharing.
    /// A project that nobody has heard of has used nothing.
    asio::awaitable<Result<Json>> report(std::string project, Timestamp now);

    /// The periodic task: adds attempts that have ended to the sums.
    Result<void> count_ended(pqxx::work& transaction) const;

  private:
    Database* database_;
    const CatalogCache* catalog_;
};

} // namespace fathom::server
