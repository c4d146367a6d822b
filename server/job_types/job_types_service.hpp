#pragma once

#include "server/catalog/catalog_cache.hpp"
#include "server/identity/job_look.hpp"
#include "server/job_types/learning_store.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// What is known of the work of jobs and of their types (M6, M11), for people and for probing. Thread-safe.
class JobTypesService final : public JobWorkSource {
  public:
    JobTypesService(Database& database, const CatalogCache& catalog) : database_(&database), catalog_(&catalog) {}

    /// The operators of a job. @error kNotFound  missing, or not the reader's to see.
    asio::awaitable<Result<Json>> job_operators(std::string job, JobReader reader);
    /// All types, by name. Of a name that several submitters use: the reader's own type, else the newest. A reader who
    /// may not read all jobs sees only what was learned from the reader's own jobs.
    asio::awaitable<Result<Page<JobTypeRecord>>> list(std::int64_t size, std::string after, Principal reader);
    /// One type, chosen as list() does. @error kNotFound
    asio::awaitable<Result<JobTypeRecord>> get(std::string name, Principal reader);

    std::optional<JobWork> find_work(pqxx::work& transaction, const std::string& job) override;

  private:
    Database* database_;
    const CatalogCache* catalog_;
};

} // namespace fathom::server
