#pragma once

#include "server/jobs/job_record.hpp"
#include "server/store/transaction.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Rows of jobs and their output. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// Adds queued jobs with their first events, and wakes the router. One statement. `jobs` is not empty.
/// @return when they were submitted: one moment for all.
Timestamp insert_jobs(pqxx::transaction_base& transaction, std::span<const std::shared_ptr<const JobRecord>> jobs);

/// A queued job, and the Idempotency-Key of the request that makes it and nothing else.
struct SubmittedJob {
    std::shared_ptr<const JobRecord> job;
    std::string key;            ///< of the job's submitter; empty: none
    std::string request_sha256; ///< IdempotencyKey::request_sha256
};
/// As insert_jobs(), key by key: a job whose key is in use already, is being taken by another transaction (claim_key),
/// or is that of an earlier one of `jobs`, is left out. The key is stored with its job, so that a repeat finds it.
/// @return for each when it was submitted; nullopt: left out
std::vector<std::optional<Timestamp>> insert_submitted_jobs(pqxx::transaction_base& transaction,
                                                            std::span<const SubmittedJob> jobs);

/// These jobs as they were when they were submitted, in the order of `ids`; those that are gone are left out.
std::vector<JobRecord> select_jobs_as_submitted(pqxx::work& transaction, const std::vector<std::string>& ids);
/// With how far its attempt is with fetching inputs, which lists of jobs do not have.
std::optional<JobRecord> select_job(pqxx::transaction_base& transaction, const JobId& id);

/// The given projects that have jobs, which may have ended.
std::vector<std::string> select_used_projects(pqxx::work& transaction, const std::vector<std::string>& projects);

/// A job and its live attempt, both locked, as far as cancelling must know them.
struct LockedJob {
    std::string label;
    std::string project;
    JobState state{JobState::kQueued};
    std::int64_t version{};
    std::string submitted_by;
    bool is_cancel_requested{false};
    std::optional<AttemptId> attempt;
    std::string attempt_state;
    bool is_attempt_sent{false}; ///< its order has gone out: the center may run it
    CenterId center_id;
};
std::optional<LockedJob> lock_job(pqxx::work& transaction, const JobId& id);
void update_cancel_requested(pqxx::work& transaction, const JobId& id);

/// An attempt of a job, as far as readers of its output must know it.
struct NamedAttempt {
    AttemptId id;
    std::optional<Timestamp> output_removed_at; ///< since when its output is no longer kept
};
/// @param name  its id, or its number: 1 for the job's first
std::optional<NamedAttempt> select_attempt_of(pqxx::work& transaction, const JobId& job, const std::string& name);

/// What a reader of a job's output must know of the job.
struct OutputState {
    std::string submitted_by;
    std::optional<AttemptId> attempt;      ///< whose output it is
    std::optional<std::int64_t> end_bytes; ///< how much it wrote to the stream, once it has ended and that is known
    bool is_closed{false};                 ///< it has ended, and what is missing of the stream is not waited for
};
/// @param stream   "stdout" or "stderr"
/// @param attempt  of the job; empty: the newest, which ends when the job does
std::optional<OutputState> select_output_state(pqxx::work& transaction, const JobId& id, const std::string& stream,
                                               const std::optional<AttemptId>& attempt = {});

struct OutputPiece {
    std::int64_t offset_bytes{};
    std::string data;
};
/// The next pieces that end behind `from_bytes`, in order of their begin; a piece may begin before `from_bytes`, and
/// pieces may overlap. Eight at most, 2 MiB.
std::vector<OutputPiece> select_output(pqxx::work& transaction, const AttemptId& attempt, const std::string& stream,
                                       std::int64_t from_bytes);

/// The bytes of `pieces` from `position` on, each once; moves `position` past them.
/// @param skips_gaps  bytes that are not there will never come, and those behind them are taken; else these wait.
std::string join_output(const std::vector<OutputPiece>& pieces, bool skips_gaps, std::int64_t& position);

struct JobCount {
    std::string state;
    std::int64_t count{};
};
/// How many jobs wait and live, by state. Ended ones are not counted: that would read the whole table.
std::vector<JobCount> count_open_jobs(pqxx::transaction_base& transaction);

} // namespace fathom::server
