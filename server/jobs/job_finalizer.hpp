#pragma once

#include "core/base/metrics.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/ports/waiting_job_terminator.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// Row, event and log line of a job's end, for JobFinalizer, and for who ends a probe's job by order of probing. The
/// job is locked by the caller. Blocks; pqxx's exceptions pass through.
/// @return false: it has ended before, and nothing was changed
bool end_job(pqxx::work& transaction, const EndedJob& job, const std::optional<AttemptId>& attempt, Json evidence,
             JobChanges& changes);
/// Once the transaction that ends it has been committed. The metrics must outlive that.
void count_ended_job(Metrics& metrics, JobState state, const std::string& label);

/// The way in which a job reaches its end state, whoever ends it: row, event, wake-ups, and word to probing when it was
/// a probe. Only a probe's job that probing itself has stopped ends without it (ProbeJobWriter). Thread-safe.
class JobFinalizer final : public WaitingJobTerminator {
  public:
    JobFinalizer(ProbeJobObserver& observer, Metrics& metrics) : observer_(&observer), metrics_(&metrics) {}

    /// The job is locked by the caller. A job that has ended before stays as it is.
    /// @param attempt  the attempt that ended it; empty when it never had one.
    /// @param changes  gets what the caller tells of it at the end of the transaction.
    /// Blocks; pqxx's exceptions pass through. @error what the observer said.
    Result<void> close(pqxx::work& transaction, const EndedJob& job, const std::string& label,
                       const std::optional<AttemptId>& attempt, Json evidence, JobChanges& changes) const;

    Result<void> end_waiting_job(pqxx::work& transaction, const JobId& id, const std::string& label,
                                 const std::string& reason) override;

    /// An attempt that had ended reports an end again. Agents repeat reports, which means nothing; but when a probe's
    /// attempt was taken for lost and its program has ended well all the same, probing is told.
    Result<void> note_late_end(pqxx::work& transaction, const JobId& job, const std::string& label,
                               const AttemptEnd& end) const;

    /// For word of a probe that goes on.
    ProbeJobObserver& observer() const { return *observer_; }

  private:
    ProbeJobObserver* observer_;
    Metrics* metrics_;
};

} // namespace fathom::server
