#include "server/jobs/job_finalizer.hpp"

#include "core/base/log.hpp"
#include "server/jobs/attempt_output_store.hpp"
#include "server/store/after_commit.hpp"

namespace fathom::server {
namespace {

/// What fathom-probe prints is far smaller.
constexpr std::size_t kProbeOutputBytes = 16UL << 20U;

} // namespace

bool end_job(pqxx::work& transaction, const EndedJob& job, const std::optional<AttemptId>& attempt, Json evidence,
             JobChanges& changes)
{
    if (!update_job_ended(transaction, job)) return false;
    if (attempt) evidence["attempt_id"] = attempt->value;
    changes.events.push_back({job.id, job.state, job.reason, std::move(evidence)});
    changes.wakes_router = true;
    after_commit([id = job.id, state = job.state, reason = job.reason, by = attempt.value_or(AttemptId())] {
        log_info("job_ended", {{"job_id", id.value},
                               {"attempt_id", std::string_view(by.value)},
                               {"state", to_string(state)},
                               {"reason", reason}});
    });
    return true;
}

void count_ended_job(Metrics& metrics, JobState state, const std::string& label)
{
    after_commit([&metrics, state, label] {
        metrics.count("fathom_jobs_ended_total", "Jobs that reached an end state.",
                      {{"state", std::string(to_string(state))}, {"label", label}});
    });
}

Result<void> JobFinalizer::close(pqxx::work& transaction, const EndedJob& job, const std::string& label,
                                 const std::optional<AttemptId>& attempt, Json evidence, JobChanges& changes) const
{
    if (!end_job(transaction, job, attempt, std::move(evidence), changes)) return {};
    count_ended_job(*metrics_, job.state, label);
    if (label != "probe") return {};
    EndedProbeJob ended;
    ended.job = job.id;
    ended.succeeded = job.state == JobState::kSucceeded;
    ended.reason = job.reason;
    ended.outcome = job.outcome;
    if (attempt && ended.succeeded) ended.stdout_text = select_stdout(transaction, *attempt, kProbeOutputBytes);
    if (attempt && !ended.succeeded) ended.stderr_text = select_stderr_end(transaction, *attempt);
    return observer_->probe_job_ended(transaction, ended);
}

Result<void> JobFinalizer::end_waiting_job(pqxx::work& transaction, const JobId& id, const std::string& label,
                                           const std::string& reason)
{
    EndedJob ended;
    ended.id = id;
    ended.reason = reason;
    JobChanges changes;
    const Result<void> closed = close(transaction, ended, label, std::nullopt, Json::object(), changes);
    if (closed) record_job_changes(transaction, changes);
    return closed;
}

Result<void> JobFinalizer::note_late_end(pqxx::work& transaction, const JobId& job, const std::string& label,
                                         const AttemptEnd& end) const
{
    const bool is_good = end.outcome == AttemptOutcome::kExited && end.exit_code == 0;
    if (label != "probe" || !is_good || !has_not_exited(transaction, end.attempt_id)) return {};
    EndedProbeJob ended;
    ended.job = job;
    ended.succeeded = true;
    ended.reason = "attempt " + end.attempt_id.value + " was taken for lost or cancelled";
    ended.outcome = end.outcome;
    return observer_->probe_job_reported_late(transaction, ended);
}

} // namespace fathom::server
