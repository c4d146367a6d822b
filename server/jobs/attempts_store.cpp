#include "server/jobs/attempts_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

// A job that its owner lets run again does so ten times at most, besides what earlier parts of it took: what takes its
// centers down is not tried for ever.
#define FATHOM_MAY_REQUEUE                                                                                             \
    "(j.label = 'job' AND coalesce(j.spec -> 'requeue' = 'true', false) AND j.cancel_requested_at IS NULL "            \
    "AND a.epoch <= 10 + coalesce((j.steps ->> 'part')::integer, 0)) AS may_requeue"

// now() is when a transaction began, which can be long before it got the lock of a job that others were changing: what
// is changed under the lock has a time from after it. That of a job's state is never before the one of its last state,
// also where the clock of the database goes back.

// The job first and alone: whoever changes an attempt holds its job, so two reports on one attempt queue up here.
constexpr Statement kLockAttemptJob{"jobs_lock_attempt_job", R"sql(
    SELECT j.id, j.label, j.state, a.state AS attempt_state, j.cancel_requested_at IS NOT NULL AS cancel_requested,
           coalesce((j.spec ->> 'wall_limit_s')::bigint, 0) AS wall_limit_s, c.name AS center, j.job_type,
           j.submitted_by, j.project, a.unit_type_id, a.unit_count,
           extract(epoch FROM clock_timestamp() - coalesce(a.dispatched_at, a.created_at))::float8 AS ordered_s,
           $3::bigint IS NOT NULL AND (c.session_epoch <> $3::bigint OR c.revoked_at IS NOT NULL) AS superseded,
           j.operators_from = '' AND coalesce(jsonb_array_length(j.spec -> 'operators'), 0) > 0 AS names_operators,
           coalesce(jsonb_array_length(j.spec #> '{data,in}'), 0) > 0
               OR coalesce((j.spec #>> '{data,out_bytes}')::float8, 0) > 0 AS moves_data,
           jsonb_path_exists(j.spec, '$.inputs[*].from') AS takes_outputs,
           coalesce(jsonb_array_length(j.steps -> 'parts') > 0, false) AS is_part,
           )sql" FATHOM_MAY_REQUEUE R"sql(
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN center c ON c.id = a.center_id
    WHERE a.id = $1 AND a.center_id = $2
    FOR UPDATE OF j)sql"};

// In order of id, as everywhere.
constexpr Statement kLockJobsOfAttempts{"jobs_lock_jobs_of_attempts", R"sql(
    SELECT 1 FROM attempt a JOIN job j ON j.id = a.job_id WHERE a.id = ANY ($1::text[]) AND a.center_id = $2
    ORDER BY j.id FOR UPDATE OF j)sql"};

constexpr Statement kCheckReporter{"jobs_check_reporter", R"sql(
    SELECT 1 FROM center WHERE id = $1 AND session_epoch = $2::bigint AND revoked_at IS NULL)sql"};

constexpr Statement kUpdateToDispatched{"jobs_update_to_dispatched", R"sql(
    UPDATE attempt SET state = 'dispatched', dispatched_at = coalesce(dispatched_at, clock_timestamp())
    WHERE id = $1 AND state = 'placed')sql"};

// M13d: the agent may report another of its types than was ordered. The expected end moves with the start. A center's
// clock may be ahead of ours, or behind, and a center may lie: by ours a job starts after it was placed and not after
// now. What its project uses is counted from then on.
constexpr Statement kUpdateToRunning{"jobs_update_to_running", R"sql(
    UPDATE attempt a SET state = 'running', dispatched_at = coalesce(dispatched_at, clock_timestamp()),
        started_at = greatest(least($2::timestamptz, clock_timestamp()), created_at), cpus = $3::bigint[],
        units = $4::bigint[], queued_until = NULL,
        expected_end_at = clock_timestamp() + (expected_end_at - coalesce(queued_until, created_at)),
        unit_type_id = coalesce((SELECT u.id FROM unit_type u WHERE u.center_id = a.center_id AND u.name = $5),
                                a.unit_type_id)
    WHERE id = $1 AND state IN ('placed', 'dispatched'))sql"};

// Never more than was reserved: whatever else the center does, units are not sold twice.
constexpr Statement kUpdateCountedUnits{"jobs_update_counted_units", R"sql(
    UPDATE attempt a SET unit_count = greatest(1, cardinality(a.units)) FROM probe_run r
    WHERE a.id = $1 AND r.job_id = a.job_id AND r.unit_count = 0 AND greatest(1, cardinality(a.units)) < a.unit_count)sql"};

// With what was predicted of it, so that no end can leave the prediction open. A center's clock may be ahead of ours,
// or behind: by ours it ended after its order was sent and not after now. Where nobody can tell what it cost, that is
// what was predicted, in proportion to the time it ran.
constexpr Statement kUpdateToEnded{"jobs_update_to_ended", R"sql(
    WITH ended AS (
        UPDATE attempt SET state = 'ended', closed_at = clock_timestamp(), outcome = $2,
            exit_code = $3, signal = $4, detail = $5,
            started_at = CASE WHEN $6::timestamptz IS NULL THEN started_at
                              ELSE greatest(least($6::timestamptz, clock_timestamp()), created_at) END,
            ended_at = $7::timestamptz, run_s = $8, cpu_s = $9,
            max_resident_bytes = $10, stdout_bytes = $11, stderr_bytes = $12, outputs = $15::jsonb,
            staging = $16::jsonb, nodes = $17, energy_j = $18, cause = $19
        WHERE id = $1 AND state <> 'ended'
        RETURNING id, unit_type_id, unit_count, queued_until IS NULL AS had_units, outcome, exit_code, started_at, run_s,
            least(greatest(ended_at, coalesce(dispatched_at, created_at)), closed_at) AS ended_at),
    completed AS (
        UPDATE prediction p SET ended_at = e.ended_at,
            actual_cost = coalesce($13::float8, CASE WHEN e.outcome <> 'lost' AND e.run_s > 0 AND p.run_s > 0
                                                     THEN p.cost * e.run_s / p.run_s END),
            actual_run_s = CASE WHEN e.started_at IS NOT NULL AND e.outcome <> 'lost' THEN greatest(coalesce($14::float8, e.run_s), 0) END,
            actual_wait_s = CASE WHEN e.started_at IS NOT NULL
                                 THEN greatest(extract(epoch FROM e.started_at - p.decided_at)::float8, 0) END,
            outcome = CASE WHEN e.outcome <> 'exited' THEN e.outcome WHEN e.exit_code = 0 THEN 'succeeded'
                           ELSE 'failed' END
        FROM ended e WHERE p.attempt_id = e.id
        RETURNING p.run_s)
    SELECT coalesce((SELECT run_s FROM completed), 0) AS predicted_s, unit_type_id, unit_count,
           had_units AND EXISTS (SELECT 1 FROM attempt q WHERE q.unit_type_id = ended.unit_type_id
                                                           AND q.queued_until IS NOT NULL AND q.state <> 'ended')
               AS frees_for_queued
    FROM ended)sql"};

// Those that have waited longest at the center get what came free, as there; less what one of them has begun with
// before the end was told. Where two ends come at once each gives its units to others.
constexpr Statement kGiveToQueued{"jobs_give_units_to_queued", R"sql(
    UPDATE attempt SET queued_until = NULL, expected_end_at = clock_timestamp() + (expected_end_at - queued_until)
    WHERE id IN (SELECT id FROM attempt WHERE unit_type_id = $1 AND queued_until IS NOT NULL AND state <> 'ended'
                 ORDER BY id
                 LIMIT greatest(0, least($2::bigint, (SELECT unit_count FROM unit_type WHERE id = $1) -
                                                     (SELECT coalesce(sum(unit_count), 0) FROM attempt
                                                      WHERE unit_type_id = $1 AND state <> 'ended'
                                                        AND queued_until IS NULL)))
                 FOR UPDATE SKIP LOCKED))sql"};

// An end that comes a second time says nothing new; one that comes after we had given up does.
constexpr Statement kInsertLateEnd{"jobs_insert_late_end", R"sql(
    INSERT INTO late_end (attempt_id, outcome, exit_code, started_at, ended_at, run_s, cpu_s, max_resident_bytes)
    SELECT id, $2, $3::integer, $4::timestamptz, $5::timestamptz, $6::float8, $7::float8, $8::bigint FROM attempt
    WHERE id = $1 AND state = 'ended' AND outcome IN ('lost', 'cancelled')
      AND (outcome <> $2 OR run_s IS DISTINCT FROM $6::float8)
    ON CONFLICT (attempt_id) DO NOTHING)sql"};

constexpr Statement kFindOtherEnd{"jobs_find_other_end", R"sql(
    SELECT 1 FROM attempt WHERE id = $1 AND state = 'ended' AND outcome <> 'exited')sql"};

constexpr Statement kUpdateJobState{"jobs_update_job_state", R"sql(
    UPDATE job SET state = $2, version = version + 1, state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = $1 AND state <> $2 AND state NOT IN ('succeeded', 'failed', 'cancelled'))sql"};

// A divided job started with its first part.
constexpr Statement kUpdateJobStarted{"jobs_update_job_started", R"sql(
    UPDATE job SET state = 'running', version = version + 1,
        started_at = CASE WHEN (steps ->> 'part')::integer > 0 THEN coalesce(started_at, $2::timestamptz)
                          ELSE $2::timestamptz END,
        state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = $1 AND state NOT IN ('running', 'succeeded', 'failed', 'cancelled'))sql"};

// Its parts that ended well ran, whatever ends it.
constexpr Statement kUpdateJobEnded{"jobs_update_job_ended", R"sql(
    UPDATE job SET state = $2, version = version + 1, end_reason = $3, exit_code = $4,
        state_changed_at = greatest(clock_timestamp(), state_changed_at),
        started_at = CASE WHEN (steps ->> 'part')::integer > 0 THEN coalesce(started_at, $5::timestamptz)
                          ELSE coalesce($5::timestamptz, started_at) END,
        run_s = coalesce($7::float8, (SELECT sum((part ->> 'run_s')::float8)
                                      FROM jsonb_array_elements(steps -> 'parts') AS part)),
        ended_at = coalesce($6::timestamptz, greatest(clock_timestamp(), state_changed_at)),
        waiting_reason = ''
    WHERE id = $1 AND state NOT IN ('succeeded', 'failed', 'cancelled'))sql"};

constexpr const char* kSelectAttempts = R"sql(
    SELECT id, state = 'ended' AS is_ended FROM attempt WHERE id = ANY ($2::text[]) AND center_id = $1)sql";

constexpr const char* kSelectMissingAttempts = R"sql(
    SELECT a.id FROM attempt a JOIN job j ON j.id = a.job_id
    WHERE a.center_id = $1 AND a.state <> 'ended' AND a.id <> ALL ($2::text[])
      AND (a.state <> 'placed' OR (a.dispatched_at IS NOT NULL AND j.cancel_requested_at IS NOT NULL))
    ORDER BY a.id)sql";

constexpr const char* kSelectCenterName = "SELECT name FROM center WHERE id = $1";

constexpr Statement kInsertProfile{"jobs_insert_profile", R"sql(
    INSERT INTO attempt_profile (attempt_id, profile) VALUES ($1, $2::jsonb)
    ON CONFLICT (attempt_id) DO NOTHING)sql"};

// One job of a type is enough to learn from; DO NOTHING does not wait for a row that stands there already.
constexpr Statement kEnqueueLearning{"jobs_enqueue_learning", R"sql(
    INSERT INTO learning_queue (job_type, submitted_by, project, job_id)
    SELECT job_type, submitted_by, project, id FROM job WHERE id = $1
    ON CONFLICT (job_type, submitted_by, project) DO NOTHING)sql"};

constexpr const char* kLockJobsOfLostCenters = R"sql(
    SELECT j.id AS job_id, j.label, a.id AS attempt_id, a.state, a.dispatched_at IS NOT NULL AS sent, c.name AS center,
           )sql" FATHOM_MAY_REQUEUE R"sql(
    FROM job j JOIN attempt a ON a.job_id = j.id AND a.state <> 'ended' JOIN center c ON c.id = a.center_id
    WHERE j.state IN ('placed', 'dispatched', 'running') AND c.state = 'lost'
    ORDER BY j.id LIMIT 500 FOR UPDATE OF j SKIP LOCKED)sql";

constexpr const char* kLockJobsOfReturnedCenters = R"sql(
    SELECT j.id AS job_id, j.label, a.id AS attempt_id, a.state, a.dispatched_at IS NOT NULL AS sent, c.name AS center,
           )sql" FATHOM_MAY_REQUEUE R"sql(
    FROM job j JOIN attempt a ON a.job_id = j.id AND a.state <> 'ended' JOIN center c ON c.id = a.center_id
    WHERE j.state = 'lost' AND c.state = 'online'
    ORDER BY j.id LIMIT 500 FOR UPDATE OF j SKIP LOCKED)sql";

std::optional<std::string> time_text(const std::optional<Timestamp>& time)
{
    if (!time) return std::nullopt;
    return format_rfc3339(*time);
}

/// libpqxx 6 wants NULL as a pointer.
template <class Text>
const char* or_null(const Text& text)
{
    return text ? text->c_str() : nullptr;
}

std::optional<std::string> number_text(const std::optional<std::int64_t>& number)
{
    if (!number) return std::nullopt;
    return std::to_string(*number);
}

Error superseded()
{
    return {Errc::kUnavailable, "the session is superseded, or its center revoked"};
}

std::vector<AffectedJob> to_affected_jobs(const pqxx::result& rows)
{
    std::vector<AffectedJob> jobs;
    for (const pqxx::row& row : rows) {
        jobs.push_back({.job_id = {row["job_id"].as<std::string>()},
                        .label = row["label"].as<std::string>(),
                        .attempt_id = {row["attempt_id"].as<std::string>()},
                        .attempt_state = row["state"].as<std::string>(),
                        .is_sent = row["sent"].as<bool>(),
                        .may_requeue = row["may_requeue"].as<bool>(),
                        .center = row["center"].as<std::string>()});
    }
    return jobs;
}

} // namespace

void lock_jobs_of_attempts(pqxx::work& transaction, const std::vector<std::string>& attempts, const CenterId& center)
{
    exec(transaction, kLockJobsOfAttempts, sql_array(attempts), center.value);
}

Result<AttemptJob> lock_attempt_job(pqxx::work& transaction, const AttemptId& attempt, const Reporter& reporter)
{
    const std::optional<std::string> epoch = number_text(reporter.epoch);
    const pqxx::result rows =
        exec(transaction, kLockAttemptJob, attempt.value, reporter.center_id.value, or_null(epoch));
    if (rows.empty()) return Error{Errc::kNotFound, "this center has no attempt " + attempt.value};
    if (rows[0]["superseded"].as<bool>()) return superseded();
    AttemptJob job;
    job.ordered_s = rows[0]["ordered_s"].as<double>();
    job.job_id = {rows[0]["id"].as<std::string>()};
    job.label = rows[0]["label"].as<std::string>();
    job.job_state = parse_job_state(rows[0]["state"].c_str()).value_or(JobState::kQueued);
    job.is_placed = rows[0]["attempt_state"].as<std::string>() == "placed";
    job.is_cancel_requested = rows[0]["cancel_requested"].as<bool>();
    job.may_requeue = rows[0]["may_requeue"].as<bool>();
    job.wall_limit_s = rows[0]["wall_limit_s"].as<std::int64_t>();
    job.center = rows[0]["center"].as<std::string>();
    job.unit_type_id = {rows[0]["unit_type_id"].as<std::string>()};
    job.unit_count = rows[0]["unit_count"].as<std::int64_t>();
    job.job_type = rows[0]["job_type"].as<std::string>();
    job.submitted_by = rows[0]["submitted_by"].as<std::string>();
    job.project = rows[0]["project"].as<std::string>();
    job.names_operators = rows[0]["names_operators"].as<bool>();
    job.moves_data = rows[0]["moves_data"].as<bool>();
    job.is_part = rows[0]["is_part"].as<bool>();
    job.takes_outputs = rows[0]["takes_outputs"].as<bool>();
    return job;
}

Result<void> check_reporter(pqxx::work& transaction, const Reporter& reporter)
{
    if (!reporter.epoch || !exec(transaction, kCheckReporter, reporter.center_id.value, *reporter.epoch).empty())
        return {};
    return superseded();
}

bool update_to_dispatched(pqxx::work& transaction, const AttemptId& attempt)
{
    return exec(transaction, kUpdateToDispatched, attempt.value).affected_rows() == 1;
}

bool update_to_running(pqxx::work& transaction, const link::AttemptStarted& started)
{
    return exec(transaction, kUpdateToRunning, started.attempt_id.value, format_rfc3339(started.started_at),
                sql_array(started.cpus), sql_array(started.units), started.unit_type)
               .affected_rows() == 1;
}

bool update_counted_units(pqxx::work& transaction, const link::AttemptStarted& started)
{
    return exec(transaction, kUpdateCountedUnits, started.attempt_id.value).affected_rows() == 1;
}

EndedAttemptRow update_to_ended(pqxx::work& transaction, const AttemptEnd& end, std::optional<double> cost,
                                std::optional<double> program_s)
{
    const auto exit_code = number_text(end.exit_code);
    const auto signal = number_text(end.signal);
    const auto started_at = time_text(end.started_at);
    const std::optional<std::string> staging = end.staging ? std::optional(to_json(*end.staging).dump()) : std::nullopt;
    const pqxx::result rows =
        exec(transaction, kUpdateToEnded, end.attempt_id.value, std::string(to_string(end.outcome)), or_null(exit_code),
             or_null(signal), end.detail, or_null(started_at), format_rfc3339(end.ended_at), end.run_s, end.cpu_s,
             end.max_resident_bytes, end.stdout_bytes, end.stderr_bytes, cost, program_s, to_json(end.outputs).dump(),
             or_null(staging), end.nodes, end.energy_j, std::string(to_string(end.cause)));
    if (rows.empty()) return {};
    const pqxx::row row = rows[0];
    if (row["frees_for_queued"].as<bool>())
        exec(transaction, kGiveToQueued, row["unit_type_id"].as<std::string>(), row["unit_count"].as<std::int64_t>());
    return {true, row["predicted_s"].as<double>()};
}

void insert_late_end(pqxx::work& transaction, const AttemptEnd& end)
{
    const auto exit_code = number_text(end.exit_code);
    const auto started_at = time_text(end.started_at);
    exec(transaction, kInsertLateEnd, end.attempt_id.value, std::string(to_string(end.outcome)), or_null(exit_code),
         or_null(started_at), format_rfc3339(end.ended_at), std::max(end.run_s, 0.0), end.cpu_s,
         end.max_resident_bytes);
}

bool has_not_exited(pqxx::work& transaction, const AttemptId& attempt)
{
    return !exec(transaction, kFindOtherEnd, attempt.value).empty();
}

bool update_job_state(pqxx::work& transaction, const JobId& job, JobState state)
{
    return exec(transaction, kUpdateJobState, job.value, std::string(to_string(state))).affected_rows() == 1;
}

bool update_job_started(pqxx::work& transaction, const JobId& job, Timestamp started_at)
{
    return exec(transaction, kUpdateJobStarted, job.value, format_rfc3339(started_at)).affected_rows() == 1;
}

bool update_job_ended(pqxx::work& transaction, const EndedJob& job)
{
    const auto exit_code = number_text(job.exit_code);
    const auto started_at = time_text(job.started_at);
    const auto ended_at = time_text(job.ended_at);
    const std::optional<std::string> run_s =
        job.run_s ? std::optional<std::string>(pqxx::to_string(*job.run_s)) : std::nullopt;
    return exec(transaction, kUpdateJobEnded, job.id.value, std::string(to_string(job.state)), job.reason,
                or_null(exit_code), or_null(started_at), or_null(ended_at), or_null(run_s))
               .affected_rows() == 1;
}

std::vector<HeldAttempt> select_attempts(pqxx::work& transaction, const CenterId& center,
                                         const std::vector<std::string>& ids)
{
    std::vector<HeldAttempt> attempts;
    if (ids.empty()) return attempts;
    for (const pqxx::row& row : transaction.exec_params(kSelectAttempts, center.value, sql_array(ids)))
        attempts.push_back({{row["id"].as<std::string>()}, row["is_ended"].as<bool>()});
    return attempts;
}

std::vector<AttemptId> select_missing_attempts(pqxx::work& transaction, const CenterId& center,
                                               const std::vector<std::string>& held)
{
    std::vector<AttemptId> attempts;
    for (const pqxx::row& row : transaction.exec_params(kSelectMissingAttempts, center.value, sql_array(held)))
        attempts.push_back({row[0].as<std::string>()});
    return attempts;
}

std::string select_center_name(pqxx::work& transaction, const CenterId& center)
{
    const pqxx::result rows = transaction.exec_params(kSelectCenterName, center.value);
    return rows.empty() ? center.value : rows[0][0].as<std::string>();
}

void insert_profile(pqxx::work& transaction, const AttemptId& attempt, const std::string& profile)
{
    exec(transaction, kInsertProfile, attempt.value, profile);
}

void enqueue_learning(pqxx::work& transaction, const JobId& job)
{
    exec(transaction, kEnqueueLearning, job.value);
}

std::vector<AffectedJob> lock_jobs_of_lost_centers(pqxx::work& transaction)
{
    return to_affected_jobs(transaction.exec(kLockJobsOfLostCenters));
}

std::vector<AffectedJob> lock_jobs_of_returned_centers(pqxx::work& transaction)
{
    return to_affected_jobs(transaction.exec(kLockJobsOfReturnedCenters));
}

} // namespace fathom::server
