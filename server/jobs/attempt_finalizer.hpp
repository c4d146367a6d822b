#pragma once

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/jobs/job_finalizer.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// The way in which an attempt reaches its end, whoever tells of it: its row and cost, what its job's type learns from
/// it, and then either another place for the job or the job's own end (JobFinalizer). Thread-safe.
class AttemptFinalizer final {
  public:
    /// All must outlive it.
    AttemptFinalizer(Metrics& metrics, const CatalogCache& catalog, const JobFinalizer& jobs, const Clock& clock)
        : metrics_(&metrics), catalog_(&catalog), jobs_(&jobs), clock_(&clock)
    {
    }

    /// The job is locked by the caller. An attempt that has ended before stays as it is, and the end is kept as a late
    /// one.
    /// @param changes  gets what the caller tells of it at the end of the transaction.
    /// Blocks; pqxx's exceptions pass through. @error what probing said, when it was a probe's.
    Result<void> close(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                       JobChanges& changes) const;

  private:
    /// Why the job waits for another place now; empty: it ends with its attempt. Where the center refused it for whose
    /// it is, that is written down.
    std::optional<std::string> requeue_reason(pqxx::work& transaction, const AttemptJob& job,
                                              const AttemptEnd& end) const;
    /// Keeps what an attempt that ended well tells of jobs that share GPUs (C8), where its unit type's are shared.
    void learn_sharing(pqxx::work& transaction, const AttemptJob& job, const AttemptId& attempt) const;
    /// Keeps what operators of a profiled attempt that ended well took (keep_operator_outcomes).
    void learn_operators(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                         const CatalogSnapshot& catalog) const;
    /// Keeps the profile of a job that ended, with what its operators took against what was predicted, and puts the job
    /// in line for its type to learn from (M11).
    void queue_learning(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end, JobState state) const;

    Metrics* metrics_;
    const CatalogCache* catalog_;
    const JobFinalizer* jobs_;
    const Clock* clock_;
};

} // namespace fathom::server
