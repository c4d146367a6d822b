#include "server/probing/results/withdrawn_runs.hpp"

#include "server/probing/tasks/probing_store.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <vector>

namespace fathom::server {
namespace {

constexpr const char* kSelectJobsOfVersion = R"sql(
    SELECT r.job_id FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id
    WHERE r.state = 'queued'
      AND coalesce(r.document, t.document) -> 'operators'
          @> jsonb_build_array(jsonb_build_object('id', $1::text, 'version', $2::bigint))
    ORDER BY r.job_id)sql";

std::vector<JobId> select_jobs_of_version(pqxx::work& transaction, const std::string& operator_id, std::int64_t version)
{
    std::vector<JobId> jobs;
    for (const pqxx::row& row : transaction.exec_params(kSelectJobsOfVersion, operator_id, version))
        jobs.push_back({row[0].as<std::string>()});
    return jobs;
}

} // namespace

Result<std::int64_t> WithdrawnRuns::end_withdrawn_runs(pqxx::work& transaction, const std::string& operator_id,
                                                       std::int64_t version)
{
    const std::string reason = "operator " + operator_id + " version " + std::to_string(version) + " was withdrawn";
    const std::vector<JobId> jobs = select_jobs_of_version(transaction, operator_id, version);
    // All jobs before the first run, in order of id: whoever ends a run holds its job.
    for (const JobId& job : jobs)
        writer_->stop_probe_job(transaction, job, reason);
    std::int64_t ended = 0;
    for (const JobId& job : jobs) {
        const std::optional<EndingRun> run = lock_run_of_job(transaction, job);
        if (!run || !run->queued) continue; // it has ended meanwhile
        end_run(transaction, run->id, "cancelled", reason);
        log_after_commit(LogLevel::kInfo, "probe_run_withdrawn",
                         {{"probe_run_id", run->id.value}, {"job_id", job.value}, {"reason", reason}});
        ++ended;
        if (!run->is_pretest) continue;
        const TestVerdict verdict{
            .kind = TestVerdict::Kind::kNotConcluded, .reason = reason, .wall_s = 0, .may_retry = false};
        if (const Result<void> done = conclude_test(transaction, *writer_, *run, verdict); !done) return done.error();
    }
    if (ended > 0) notify(transaction, "route", ""); // jobs that wait for them go on
    return ended;
}

} // namespace fathom::server
