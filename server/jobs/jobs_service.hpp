#pragma once

#include "server/api/compute_pool.hpp"
#include "server/api/idempotency.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/job_types/job_typing.hpp"
#include "server/jobs/job_admission.hpp"
#include "server/jobs/job_finalizer.hpp"
#include "server/jobs/job_list_store.hpp"
#include "server/jobs/job_looks.hpp"
#include "server/jobs/job_quota.hpp"
#include "server/jobs/jobs_store.hpp"
#include "server/retention/free_space.hpp"
#include "server/store/group_commit.hpp"

#include <functional>

namespace fathom::server {

/// Which jobs are taken, and how long those that ended are kept.
struct JobRules {
    UnknownProjects unknown_projects{UnknownProjects::kAccept};
    const FreeSpace* space{nullptr}; ///< jobs are refused while it is low; null: never. Outlives the service.
    JobQuota quota{};
    std::int64_t most_priority{0};  ///< of jobs whose submitters do not manage the network
    std::chrono::days keep_jobs{0}; ///< after their end, for those who ask for one that is gone; 0: for ever
};

/// What jobs are taken and ended with. All of it outlives the service.
struct JobsParts {
    Database& database;
    asio::any_io_executor executor;
    Metrics& metrics;
    CatalogCache& catalog;
    const JobFinalizer& finalizer;
    ComputePool& compute;
    const Clock& clock;
};

/// What clients do with jobs. A look at a job that its reader sees by its role alone is in the audit log, once an hour
/// for each reader and job (job.read, of the output job.read_output), and so are lists with such jobs (job.list, once
/// an hour for each reader and replica); without the record there is no answer. Probes are nobody's. Thread-safe.
class JobsService {
  public:
    explicit JobsService(const JobsParts& parts, JobRules rules = {});

    using Batch = JobBatch;
    /// Checks jobs against operator library and unit types, finds the outputs of earlier jobs that they take, completes
    /// their operators, finds their types, and gives those without operators what their type was seen to execute (M11).
    /// Errors name their fields, with `[i].` before
    /// them for kMany.
    /// @error kInvalid     unknown operators, parameters out of range, terms that this network cannot keep; inputs that
    ///                     are no outputs which the caller may read.
    /// @error kForbidden   one of them is of a project with members, and the caller is none.
    /// @error kInfeasible  no unit type could ever run one of them, or keep its deadline, budget or quota.
    /// @error kUnavailable  the disk is nearly full.
    /// @error kTooMany      their submitter, or a project of theirs, has as much as it may.
    asio::awaitable<Result<std::vector<AdmittedJob>>> admit(std::vector<JobSpec> specs, Batch batch, Principal caller,
                                                            Submitter submitter = Submitter());

    /// Queues one admitted job; many callers share a transaction.
    asio::awaitable<Result<JobRecord>> submit(AdmittedJob job, std::string owner);
    /// The same under an idempotency key, which commits with the job.
    /// @return nullopt: the key is in use already, or being taken by another transaction, which is not waited for;
    ///         nothing was done. submit_once() waits, and tells what the repeat gets.
    asio::awaitable<Result<std::optional<JobRecord>>> submit_first(IdempotencyKey key, AdmittedJob job,
                                                                   std::string owner);
    /// Queues admitted jobs, all or nothing.
    asio::awaitable<Result<std::vector<JobRecord>>> submit_all(std::vector<AdmittedJob> admitted, std::string owner);

    using Render = std::function<StoredAnswer(const std::vector<JobRecord>&)>;
    struct OnceAnswer {
        StoredAnswer answer;
        bool is_replay{false};
    };
    /// As submit_all(), under an idempotency key: key, jobs and answer commit together. The key is stored with the ids
    /// of the jobs; a repeated request gets the jobs as they were submitted.
    /// @error kConflict  the key was used with another request, or its jobs have been removed.
    asio::awaitable<Result<OnceAnswer>> submit_once(IdempotencyKey key, std::vector<AdmittedJob> admitted,
                                                    std::string owner, Render render);
    /// The answer that a key already got: a repeat gets it even if the job would be refused by now.
    /// @error kNotFound  none yet.  kConflict  the key was used with another request, or its jobs have been removed.
    asio::awaitable<Result<StoredAnswer>> find_answer(IdempotencyKey key, Render render);

    /// @param reader  whose list it is; nullopt: nobody's, so that nothing is recorded.
    /// @error kInvalid  `after` is none of the filter's order.
    asio::awaitable<Result<Page<JobRecord>>> list(JobFilter filter, std::int64_t size, std::string after,
                                                  std::optional<JobReader> reader = std::nullopt);
    /// How many jobs there are in each group.
    asio::awaitable<Result<JobGroups>> count_groups(JobFilter filter, JobGrouping by);
    /// @error kNotFound  missing, removed, or not the caller's to see.
    asio::awaitable<Result<JobRecord>> get(JobId id, JobReader reader, JobContent content = JobContent::kSpecification);
    /// An attempt of a job that the caller sees, by its id or its number.
    /// @error kNotFound  the job has no such attempt.
    asio::awaitable<Result<NamedAttempt>> find_attempt(JobId job, std::string name);

    /// Whether the version that the caller saw may still be acted on (If-Match).
    using VersionCheck = std::function<bool(std::int64_t version)>;
    struct CancelAnswer {
        bool is_stale{false}; ///< the version check said no; nothing was done
        JobRecord job;        ///< as it is now, unless stale
    };
    /// Cancels: at once when no center can have the job, else as soon as its center has stopped it.
    /// @error kNotFound, kForbidden, kConflict (it has ended)
    asio::awaitable<Result<CancelAnswer>> cancel(JobId id, JobReader asker, VersionCheck check);

  private:
    /// Also says so when the job may be one that was removed for its age.
    Error no_such_job(const JobId& id) const;
    /// What jobs are checked against.
    struct CatalogInUse {
        CatalogPointer catalog;
        bool is_fresh{false}; ///< read while these jobs were checked
    };
    /// An operator, a center or a project may be newer than our snapshot: nobody is refused on an old one.
    /// @param check  an awaitable of Result<void> for a CatalogPointer; both must live until it has answered.
    template <class Check>
    asio::awaitable<Result<void>> check_on_fresh(CatalogInUse& in_use, const Check& check);
    /// Membership of projects, operators and terms, as check_membership() and check_jobs() have them. `specs` and
    /// `caller` must live until it has answered.
    asio::awaitable<Result<void>> check_requests_in_pool(std::vector<JobSpec>& specs, const Principal& caller,
                                                         CatalogPointer catalog, Timestamp now, Batch batch);
    /// find_outputs(); nothing where no job takes any. `specs` must live until it has answered.
    /// @return the bytes that the jobs gain by it
    asio::awaitable<Result<std::int64_t>> find_their_outputs(std::vector<JobSpec>& specs, JobReader submitter,
                                                             Batch batch);
    bool must_projects_exist(const CatalogSnapshot& catalog) const;
    /// With their types, and the operators that their types were seen to execute.
    std::vector<AdmittedJob> complete(std::vector<JobSpec> specs, const std::string& owner,
                                      const CatalogPointer& catalog);
    /// `specs` must live until it has answered.
    asio::awaitable<Result<void>> check_projects(const std::vector<JobSpec>& specs, CatalogPointer catalog,
                                                 Batch batch);
    /// check_limits() on a thread that may take its time. `jobs` and `owner` must live until it has answered.
    asio::awaitable<Result<void>> check_limits_in_pool(const std::vector<AdmittedJob>& jobs, const std::string& owner,
                                                       CatalogPointer catalog, Timestamp now, Batch batch);
    Result<CancelAnswer> cancel_in(pqxx::work& transaction, const JobId& id, const JobReader& asker,
                                   const VersionCheck& check) const;
    Result<void> stop_job(pqxx::work& transaction, const JobId& id, const LockedJob& job,
                          const std::string& cause) const;

    using Submissions = GroupCommit<SubmittedJob, std::optional<Timestamp>>;

    Database* database_;
    CatalogCache* catalog_;
    const JobFinalizer* finalizer_;
    ComputePool* compute_;
    const Clock* clock_;
    const JobRules rules_;
    JobQuotaGuard quota_;
    JobTyping typing_;
    Metrics::Counter submitted_;
    Submissions submissions_;
    TokenRate recorded_lists_; ///< of each reader
};

} // namespace fathom::server
