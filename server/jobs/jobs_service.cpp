#include "server/jobs/jobs_service.hpp"

#include "core/base/log.hpp"
#include "core/base/ulid_time.hpp"
#include "server/catalog/job_operators.hpp"
#include "server/events/job_event_log.hpp"
#include "server/identity/audit.hpp"
#include "server/jobs/job_stop.hpp"
#include "server/routing/output_inputs.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::size_t kQuickJobs = 16;

using Queued = std::shared_ptr<const JobRecord>;

Result<std::vector<std::optional<Timestamp>>> write_submissions(pqxx::transaction_base& transaction,
                                                                std::vector<SubmittedJob>& jobs)
{
    return insert_submitted_jobs(transaction, jobs);
}

JobRecord submitted_at(const JobRecord& job, Timestamp at)
{
    JobRecord record = job;
    record.submitted_at = record.state_changed_at = at;
    return record;
}

std::vector<Queued> queue_up(const std::vector<AdmittedJob>& admitted, const std::string& owner)
{
    std::vector<Queued> jobs;
    jobs.reserve(admitted.size());
    for (const AdmittedJob& job : admitted)
        jobs.push_back(std::make_shared<const JobRecord>(make_job_record(JobId::make(), "job", job, owner)));
    return jobs;
}

std::map<std::string, std::int64_t> jobs_by_project(const std::vector<AdmittedJob>& jobs)
{
    std::map<std::string, std::int64_t> counts;
    for (const AdmittedJob& job : jobs)
        ++counts[job.spec.project];
    return counts;
}

/// The answer that a key got, with its jobs as they were then.
Result<StoredAnswer> render_again(pqxx::work& transaction, StoredAnswer stored, const JobsService::Render& render)
{
    if (stored.jobs.empty()) return stored; // of an older version, which kept the body
    const std::vector<JobRecord> jobs = select_jobs_as_submitted(transaction, stored.jobs);
    if (jobs.size() != stored.jobs.size())
        return Error{Errc::kConflict, "the jobs of this Idempotency-Key have been removed; take a new key"};
    return render(jobs);
}

/// How often a reader's lists are recorded.
constexpr double kListRecordsPerSecond = 1.0 / 3600;

std::vector<JobRecord> insert_all(pqxx::transaction_base& transaction, const std::vector<Queued>& jobs)
{
    const Timestamp at = insert_jobs(transaction, jobs);
    std::vector<JobRecord> records;
    records.reserve(jobs.size());
    for (const Queued& job : jobs)
        records.push_back(submitted_at(*job, at));
    return records;
}

} // namespace

JobsService::JobsService(const JobsParts& parts, JobRules rules)
    : database_(&parts.database), catalog_(&parts.catalog), finalizer_(&parts.finalizer), compute_(&parts.compute),
      clock_(&parts.clock), rules_(rules), quota_(parts.database, rules.quota),
      submitted_(parts.metrics.counter("fathom_jobs_submitted_total", "Jobs accepted from clients.")),
      submissions_(parts.database, parts.executor, "submissions", parts.metrics,
                   Submissions::OneStatement{write_submissions}),
      recorded_lists_(1, kListRecordsPerSecond)
{
}

asio::awaitable<Result<std::vector<AdmittedJob>>> JobsService::admit(std::vector<JobSpec> specs, Batch batch,
                                                                     Principal caller, Submitter submitter)
{
    if (rules_.space != nullptr) {
        const Result<void> has_room = rules_.space->check();
        if (!has_room) co_return has_room.error();
    }
    const Result<void> may_go_first = check_priorities(specs, caller, rules_.most_priority, batch);
    if (!may_go_first) co_return may_go_first.error();
    // First: what they move is part of what their limits are checked by.
    JobReader reader{caller, submitter.request_id};
    const Result<std::int64_t> found_bytes = co_await find_their_outputs(specs, std::move(reader), batch);
    if (!found_bytes) co_return found_bytes.error();
    submitter.bytes += *found_bytes; // stored with the jobs as what was sent
    CatalogInUse in_use{catalog_->get()};
    const Timestamp now = clock_->now();
    const auto check_requests = [&](CatalogPointer catalog) {
        return check_requests_in_pool(specs, caller, std::move(catalog), now, batch);
    };
    Result<void> checked = co_await check_on_fresh(in_use, check_requests);
    if (!checked) co_return checked.error();
    if (must_projects_exist(*in_use.catalog)) {
        const auto check_project_names = [&](CatalogPointer catalog) {
            return check_projects(specs, std::move(catalog), batch);
        };
        checked = co_await check_on_fresh(in_use, check_project_names);
        if (!checked) co_return checked.error();
    }
    const std::string& owner = caller.token_id.value;
    std::vector<AdmittedJob> admitted = complete(std::move(specs), owner, in_use.catalog);
    const auto check_job_limits = [&](CatalogPointer catalog) {
        return check_limits_in_pool(admitted, owner, std::move(catalog), now, batch);
    };
    checked = co_await check_on_fresh(in_use, check_job_limits);
    if (!checked) co_return checked.error();
    // Last: what is refused for another reason does not count.
    checked = co_await quota_.take(std::move(submitter), jobs_by_project(admitted));
    if (!checked) co_return checked.error();
    co_return admitted;
}

template <class Check>
asio::awaitable<Result<void>> JobsService::check_on_fresh(CatalogInUse& in_use, const Check& check)
{
    Result<void> checked = co_await check(in_use.catalog);
    if (checked || in_use.is_fresh) co_return checked;
    const Result<CatalogPointer> fresh = co_await catalog_->refresh();
    if (!fresh) co_return fresh.error();
    in_use = CatalogInUse{*fresh, true};
    co_return co_await check(in_use.catalog);
}

asio::awaitable<Result<void>> JobsService::check_requests_in_pool(std::vector<JobSpec>& specs, const Principal& caller,
                                                                  CatalogPointer catalog, Timestamp now, Batch batch)
{
    const auto check = [&]() -> Result<void> {
        const Result<void> may = check_membership(specs, caller, *catalog, batch);
        return may ? check_jobs(specs, *catalog, now, batch) : may;
    };
    // Many jobs take long to look at: not on the threads that the network waits for.
    if (specs.size() <= kQuickJobs) co_return check();
    co_return co_await compute_->run(std::string(), check);
}

asio::awaitable<Result<std::int64_t>> JobsService::find_their_outputs(std::vector<JobSpec>& specs, JobReader submitter,
                                                                      Batch batch)
{
    if (!take_outputs(specs)) co_return std::int64_t{0};
    // Errors are a value here: that a job was looked at by a role alone is recorded with them, too.
    auto work = [&](pqxx::work& transaction) -> Result<FoundOutputs> {
        return find_outputs(transaction, specs, submitter);
    };
    Result<FoundOutputs> found = co_await database_->run(std::move(work));
    if (!found) co_return found.error();
    if (found->problems.empty()) co_return found->bytes;
    std::vector<FieldError> errors;
    for (OutputProblem& problem : found->problems) {
        const std::string prefix = batch == Batch::kMany ? "[" + std::to_string(problem.job) + "]." : std::string();
        errors.push_back({prefix + problem.error.field, std::move(problem.error.detail)});
    }
    co_return Error{Errc::kInvalid, "the job takes what is no output of an earlier job", std::move(errors)};
}

bool JobsService::must_projects_exist(const CatalogSnapshot& catalog) const
{
    return rules_.unknown_projects == UnknownProjects::kRefuse ||
           (rules_.unknown_projects == UnknownProjects::kRefuseOnceMembers && !catalog.project_members.empty());
}

std::vector<AdmittedJob> JobsService::complete(std::vector<JobSpec> specs, const std::string& owner,
                                               const CatalogPointer& catalog)
{
    std::vector<AdmittedJob> admitted;
    admitted.reserve(specs.size());
    for (JobSpec& spec : specs) {
        AdmittedJob job{std::move(spec), {}, {}};
        if (catalog->profiled_projects.contains(job.spec.project)) job.spec.profile = true;
        job.job_type = typing_.type_of(job.spec, owner, catalog);
        job.operators_from = take_learned_operators(job.spec, owner, *catalog);
        admitted.push_back(std::move(job));
    }
    return admitted;
}

asio::awaitable<Result<void>> JobsService::check_limits_in_pool(const std::vector<AdmittedJob>& jobs,
                                                                const std::string& owner, CatalogPointer catalog,
                                                                Timestamp now, Batch batch)
{
    if (!have_limits(jobs, *catalog)) co_return Result<void>();
    auto work = [&]() -> Result<void> { return check_limits(jobs, owner, *catalog, now, batch); };
    co_return co_await compute_->run(std::string(), std::move(work));
}

asio::awaitable<Result<void>> JobsService::check_projects(const std::vector<JobSpec>& specs, CatalogPointer catalog,
                                                          Batch batch)
{
    std::set<std::string, std::less<>> unknown = projects_without_settings(specs, *catalog);
    if (unknown.empty()) co_return Result<void>();
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<std::string>> {
        return select_used_projects(transaction, {unknown.begin(), unknown.end()});
    };
    const Result<std::vector<std::string>> used = co_await database_->run(std::move(work));
    if (!used) co_return used.error();
    for (const std::string& project : *used)
        unknown.erase(project);
    co_return refuse_unknown_projects(specs, unknown, *catalog, batch);
}

asio::awaitable<Result<JobRecord>> JobsService::submit(AdmittedJob job, std::string owner)
{
    Result<std::optional<JobRecord>> record = co_await submit_first({}, std::move(job), std::move(owner));
    if (!record) co_return record.error();
    FATHOM_ASSERT(*record); // there is no key that could be in use
    co_return std::move(**record);
}

asio::awaitable<Result<std::optional<JobRecord>>> JobsService::submit_first(IdempotencyKey key, AdmittedJob job,
                                                                            std::string owner)
{
    FATHOM_ASSERT(key.key.empty() || key.token_id == owner);
    const auto queued = std::make_shared<const JobRecord>(make_job_record(JobId::make(), "job", job, std::move(owner)));
    SubmittedJob submitted{queued, std::move(key.key), std::move(key.request_sha256)};
    const Result<std::optional<Timestamp>> at = co_await submissions_.add(std::move(submitted));
    if (!at) co_return at.error();
    if (!*at) co_return std::optional<JobRecord>();
    submitted_.add();
    co_return submitted_at(*queued, **at);
}

asio::awaitable<Result<std::vector<JobRecord>>> JobsService::submit_all(std::vector<AdmittedJob> admitted,
                                                                        std::string owner)
{
    auto work = [jobs =
                     queue_up(admitted, owner)](pqxx::transaction_base& transaction) -> Result<std::vector<JobRecord>> {
        return insert_all(transaction, jobs);
    };
    Result<std::vector<JobRecord>> records = co_await database_->run_statement(std::move(work));
    if (records) submitted_.add(static_cast<double>(records->size()));
    co_return records;
}

asio::awaitable<Result<JobsService::OnceAnswer>>
JobsService::submit_once(IdempotencyKey key, std::vector<AdmittedJob> admitted, std::string owner, Render render)
{
    auto work = [key = std::move(key), jobs = queue_up(admitted, owner),
                 render = std::move(render)](pqxx::work& transaction) -> Result<OnceAnswer> {
        Result<std::optional<StoredAnswer>> stored = claim_key(transaction, key);
        if (!stored) return stored.error();
        if (*stored) {
            Result<StoredAnswer> earlier = render_again(transaction, std::move(**stored), render);
            if (!earlier) return earlier.error();
            return OnceAnswer{std::move(*earlier), true};
        }
        OnceAnswer once{render(insert_all(transaction, jobs)), false};
        StoredAnswer kept{once.answer.status, "", once.answer.location, {}};
        for (const Queued& job : jobs)
            kept.jobs.push_back(job->id.value);
        store_answer(transaction, key, kept);
        return once;
    };
    const Result<OnceAnswer> once = co_await database_->run(std::move(work));
    if (once && !once->is_replay) submitted_.add(static_cast<double>(admitted.size()));
    co_return once;
}

asio::awaitable<Result<StoredAnswer>> JobsService::find_answer(IdempotencyKey key, Render render)
{
    auto work = [&](pqxx::work& transaction) -> Result<StoredAnswer> {
        Result<std::optional<StoredAnswer>> stored = claim_key(transaction, key);
        if (!stored) return stored.error();
        if (*stored) return render_again(transaction, std::move(**stored), render);
        // An error rolls the claim back.
        return Error{Errc::kNotFound, "the key is not used yet"};
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<JobRecord>>> JobsService::list(JobFilter filter, std::int64_t size, std::string after,
                                                           std::optional<JobReader> reader)
{
    const std::string token_id = reader ? reader->principal.token_id.value : std::string();
    const auto now = std::chrono::steady_clock::now();
    const bool is_recorded = reader && recorded_lists_.wait_of(token_id, now).count() == 0;
    bool was_written = false;
    auto work = [&](pqxx::work& transaction) -> Result<Page<JobRecord>> {
        Result<Page<JobRecord>> page = select_jobs(transaction, filter, size, after);
        was_written = page && is_recorded && record_list(transaction, *reader, page->items);
        return page;
    };
    Result<Page<JobRecord>> page = co_await database_->run(std::move(work));
    if (page && was_written) recorded_lists_.try_take(token_id, now);
    co_return page;
}

asio::awaitable<Result<JobGroups>> JobsService::count_groups(JobFilter filter, JobGrouping by)
{
    auto work = [&](pqxx::work& transaction) -> Result<JobGroups> {
        return select_job_groups(transaction, filter, by);
    };
    co_return co_await database_->run(std::move(work));
}

Error JobsService::no_such_job(const JobId& id) const
{
    // The id tells when it was made. The same answer for jobs that are gone, others' jobs and those that never were.
    const bool may_be_removed = rules_.keep_jobs.count() > 0 && ulid_time(id.value) + rules_.keep_jobs < clock_->now();
    if (!may_be_removed) return {Errc::kNotFound, "there is no such job"};
    return {Errc::kNotFound, "there is no such job, or no longer: jobs are removed " +
                                 std::to_string(rules_.keep_jobs.count()) + " days after their end"};
}

asio::awaitable<Result<JobRecord>> JobsService::get(JobId id, JobReader reader, JobContent content)
{
    auto work = [&](pqxx::transaction_base& transaction) -> Result<JobRecord> {
        std::optional<JobRecord> job = select_job(transaction, id);
        if (!job || !job_scope_of(reader.principal).includes(job->submitted_by, job->project)) return no_such_job(id);
        record_look(transaction, reader, *job, content);
        return std::move(*job);
    };
    co_return co_await database_->run_statement(std::move(work));
}

asio::awaitable<Result<NamedAttempt>> JobsService::find_attempt(JobId job, std::string name)
{
    auto work = [&](pqxx::work& transaction) -> Result<NamedAttempt> {
        std::optional<NamedAttempt> attempt = select_attempt_of(transaction, job, name);
        if (!attempt) return Error{Errc::kNotFound, "the job has no such attempt"};
        return std::move(*attempt);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<JobsService::CancelAnswer>> JobsService::cancel(JobId id, JobReader asker, VersionCheck check)
{
    auto work = [&](pqxx::work& transaction) -> Result<CancelAnswer> {
        return cancel_in(transaction, id, asker, check);
    };
    co_return co_await database_->run(std::move(work));
}

Result<JobsService::CancelAnswer> JobsService::cancel_in(pqxx::work& transaction, const JobId& id,
                                                         const JobReader& asker, const VersionCheck& check) const
{
    const Principal& principal = asker.principal;
    const std::optional<LockedJob> job = lock_job(transaction, id);
    if (!job || !job_scope_of(principal).includes(job->submitted_by, job->project)) return no_such_job(id);
    if (!may_cancel_job(principal, job->submitted_by, job->project))
        return Error{Errc::kForbidden, "only its submitter, a lead of its project or an admin may cancel this job"};
    CancelAnswer answer;
    answer.is_stale = !check(job->version);
    if (answer.is_stale) return answer;
    if (is_final(job->state))
        return Error{Errc::kConflict, "the job has ended already: " + std::string(to_string(job->state))};
    const Result<void> stopped = stop_job(transaction, id, *job, "cancelled by " + principal.name);
    if (!stopped) return stopped.error();
    if (job->submitted_by != principal.token_id.value)
        audit(transaction, principal.token_id.value, "job.cancel", id.value, asker.request_id,
              {{"submitted_by", job->submitted_by}});
    answer.job = select_job(transaction, id).value_or(JobRecord());
    return answer;
}

Result<void> JobsService::stop_job(pqxx::work& transaction, const JobId& id, const LockedJob& job,
                                   const std::string& cause) const
{
    // With a lost center the job ends here; the agent is told to stop it should it ever come back.
    const bool center_may_stop_it = job.attempt && job.is_attempt_sent && job.state != JobState::kLost;
    if (center_may_stop_it) {
        ask_center_to_stop(transaction, id, job, cause);
        return {};
    }
    const EndedJob ended = stop_without_center(transaction, id, job, cause, clock_->now());
    JobChanges changes;
    const Result<void> closed = finalizer_->close(transaction, ended, job.label, job.attempt, Json::object(), changes);
    if (closed) record_job_changes(transaction, changes);
    return closed;
}

} // namespace fathom::server
