#pragma once

#include "core/decide/explanation/what_if.hpp"
#include "core/decide/prediction/job_split.hpp"
#include "server/api/compute_pool.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/identity/job_look.hpp"
#include "server/routing/batch/routing_store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// Answers where jobs went, why, why they wait, and where a job would go: decides, but moves nothing. Decisions are
/// made on threads of their own, so that no question holds a connection to the database for long. Thread-safe.
class PlacementService {
  public:
    PlacementService(Database& database, CatalogCache& catalog, const Clock& clock, ComputePool& compute)
        : database_(&database), catalog_(&catalog), clock_(&clock), compute_(&compute)
    {
    }

    struct Question {
        JobId job;
        JobReader asker{};       ///< sees the job, or is told that there is none
        bool with_inputs{false}; ///< also what the decision rested on
    };
    /// The explanation of a job: its stored decision with what would have changed it, or, while it waits, what would
    /// be decided now, the reasons of the wait in order of weight, and the expected start.
    /// @error kNotFound  no such job, or another owner's.  Others as ComputePool::run.
    asio::awaitable<Result<Json>> explain(Question question);

    /// Where a job would go now, and, with a what-if, where it would go then; with steps also whether it would better
    /// run in these at the centers that have CPUs and GPUs.
    /// @param submitter  who would submit it.
    /// @param steps  they hold the job's operators; empty: it is not to be divided.
    /// @error kInvalid  operators or parameters that the library does not have; inputs that are no outputs which the
    /// submitter may read; a what-if that does not fit the network. Others as ComputePool::run.
    asio::awaitable<Result<Json>> preview(JobSpec spec, JobReader submitter, std::optional<WhatIf> what_if,
                                          std::vector<JobStep> steps);

  private:
    /// find_outputs() of one job. `spec` and `submitter` must live until it has answered.
    asio::awaitable<Result<std::vector<FieldError>>> find_its_outputs(JobSpec& spec, const JobReader& submitter);

    Database* database_;
    CatalogCache* catalog_;
    const Clock* clock_;
    ComputePool* compute_;
};

} // namespace fathom::server
