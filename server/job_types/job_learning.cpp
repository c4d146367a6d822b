#include "server/job_types/job_learning.hpp"

#include "server/job_types/job_work.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/savepoint.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr std::int64_t kEntriesATime = 16;

JobTypeOrigin origin_of(const JobEvidence& evidence)
{
    if (!evidence.spec.type.empty()) return JobTypeOrigin::kUser;
    return evidence.spec.operators.empty() || !evidence.operators_from.empty() ? JobTypeOrigin::kApplication
                                                                               : JobTypeOrigin::kMix;
}

} // namespace

Result<void> JobLearning::learn(pqxx::work& transaction)
{
    const CatalogPointer catalog = catalog_->get();
    bool has_learned = false;
    for (const JobId& job : pop_learning_queue(transaction, kEntriesATime)) {
        const Result<void> tried =
            try_part(transaction, "learning_failed", {"job_id", job.value}, [&]() -> Result<void> {
                const Result<bool> learned = learn_from(transaction, job, *catalog);
                if (!learned) return learned.error();
                has_learned = has_learned || *learned;
                return {};
            });
        if (!tried) return tried.error();
    }
    if (has_learned) notify(transaction, "catalog", "");
    return {};
}

Result<bool> JobLearning::learn_from(pqxx::work& transaction, const JobId& job, const CatalogSnapshot& catalog)
{
    const std::optional<JobEvidence> evidence = select_evidence(transaction, job.value);
    if (!evidence || evidence->job_type.empty()) return false;
    const ObservedWork work = observe_work(*evidence, catalog);
    if (work.operators.empty() || work.source == "type") return false;
    const bool is_profiled = work.source == "profile";
    const std::optional<JobTypeRecord> known =
        select_job_type(transaction, evidence->job_type, evidence->submitted_by, evidence->spec.project);
    if (known && known->profiled && !is_profiled) return false;

    JobTypeRecord type;
    type.name = evidence->job_type;
    type.origin = origin_of(*evidence);
    type.operators = work.operators;
    type.mix = operator_mix(work.operators, catalog.manifests());
    type.profiled = is_profiled;
    type.learned_from = job.value;
    type.submitted_by = evidence->submitted_by;
    type.project = evidence->spec.project;
    if (is_profiled) {
        if (const std::optional<KeptRun> run = kept_run(*evidence, catalog)) type.known_run = to_json(*run);
        type.unlisted = work.unlisted;
        type.own_loops = shown_loops(*evidence);
    }
    const LearnedTask learned{.job_type = type.name, .operators = type.operators, .job = job};
    const Result<ProbeTaskId> task = planner_->keep_learned_task(transaction, learned);
    if (task)
        type.probe_task_id = task->value;
    else if (const Error error = task.error(); is_transient(error.code) && error.code != Errc::kTooMany)
        return error; // of the moment; else of this job, which must not keep the others from being learned from
    else
        log_after_commit(LogLevel::kWarning, "no_task_learned",
                         {{"job_id", job.value}, {"job_type", type.name}, {"error", describe(error)}});
    upsert_job_type(transaction, type);
    log_after_commit(LogLevel::kInfo, "job_type_learned",
                     {{"job_id", job.value}, {"job_type", type.name}, {"source", work.source}});
    return true;
}

} // namespace fathom::server
