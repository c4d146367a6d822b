#pragma once

#include "server/catalog/catalog_cache.hpp"
#include "server/job_types/learning_store.hpp"
#include "server/ports/probe_ports.hpp"

namespace fathom::server {

/// Learns from jobs that ended well (M11), for each submitter and project by itself, so that nobody's jobs change what
/// is known of another's: the operators of a job's type are replaced by what its last job was counted, or else said, to
/// execute, and the type's probe task is made, tried, released and measured by itself. What a profile
/// counted is replaced by another profile only.
/// Runs on: the periodic task's thread; thread-safe.
class JobLearning {
  public:
    JobLearning(const CatalogCache& catalog, ProbePlanner& planner) : catalog_(&catalog), planner_(&planner) {}

    /// Works off some of the jobs that wait in line. Blocks; pqxx's exceptions pass through.
    Result<void> learn(pqxx::work& transaction);

  private:
    Result<bool> learn_from(pqxx::work& transaction, const JobId& job, const CatalogSnapshot& catalog);

    const CatalogCache* catalog_;
    ProbePlanner* planner_;
};

} // namespace fathom::server
