#include "server/retention/retention_store.hpp"

#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// Ages are told by our own clock (state_changed_at), not by what centers said of the end.
constexpr Statement kSelectOutputDue{"retention_select_output_due", R"sql(
    SELECT o.attempt_id AS id, o.first_at AS at
    FROM attempt_output o JOIN attempt a ON a.id = o.attempt_id JOIN job j ON j.id = a.job_id
    WHERE o.first_at < $1::timestamptz AND (o.first_at, o.attempt_id) > ($2::timestamptz, $3)
      AND j.state IN ('succeeded', 'failed', 'cancelled') AND j.state_changed_at < $1::timestamptz
    ORDER BY o.first_at, o.attempt_id LIMIT $4)sql"};

// What is yet to be metered stays, and what project_use has yet to count; what ended 70 days ago it never counts
// (routing/project_use_store).
constexpr Statement kSelectJobsDue{"retention_select_jobs_due", R"sql(
    SELECT j.id, j.state_changed_at AS at FROM job j
    WHERE j.label = 'job' AND j.state IN ('succeeded', 'failed', 'cancelled')
      AND j.state_changed_at < $1::timestamptz AND (j.state_changed_at, j.id) > ($2::timestamptz, $3)
      AND NOT EXISTS (SELECT 1 FROM attempt a LEFT JOIN attempt_output o ON o.attempt_id = a.id
                      WHERE a.job_id = j.id
                        AND (a.state <> 'ended' OR o.attempt_id IS NOT NULL OR NOT a.metered
                             OR NOT a.counted AND j.state_changed_at > now() - interval '70 days'))
    ORDER BY j.state_changed_at, j.id LIMIT $4)sql"};

constexpr Statement kSelectProbeRunsDue{"retention_select_probe_runs_due", R"sql(
    SELECT r.id, r.ended_at AS at FROM probe_run r JOIN job j ON j.id = r.job_id
    WHERE r.state <> 'queued' AND r.verification <> 'pending'
      AND r.ended_at < $1::timestamptz AND (r.ended_at, r.id) > ($2::timestamptz, $3)
      AND j.state IN ('succeeded', 'failed', 'cancelled') AND j.state_changed_at < $1::timestamptz
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.job_id = j.id AND (a.state <> 'ended' OR NOT a.metered))
      AND NOT EXISTS (SELECT 1 FROM measurement m
                      WHERE m.probe_run_id = r.id AND m.void_reason = ''
                        AND NOT EXISTS (SELECT 1 FROM measurement n
                                        WHERE n.unit_type_id = m.unit_type_id AND n.unit_count = m.unit_count
                                          AND n.operator_id = m.operator_id AND n.parameters_key = m.parameters_key
                                          AND n.void_reason = '' AND n.measured_at > m.measured_at))
      AND (r.state <> 'succeeded' OR EXISTS (SELECT 1 FROM probe_run n WHERE n.unit_type_id = r.unit_type_id
                                               AND n.state = 'succeeded' AND n.id > r.id))
      AND NOT EXISTS (SELECT 1 FROM probe_finding f WHERE f.probe_run_id = r.id)
      AND NOT EXISTS (SELECT 1 FROM probe_task t WHERE t.pretest_run_id = r.id)
    ORDER BY r.ended_at, r.id LIMIT $4)sql"};

constexpr Statement kDeleteOutput{"retention_delete_output", R"sql(
    WITH gone AS (
        DELETE FROM job_output WHERE attempt_id = $1 AND (stream, offset_bytes) IN (
            SELECT stream, offset_bytes FROM job_output WHERE attempt_id = $1 LIMIT $2)
        RETURNING length(data) AS bytes),
    total AS (
        UPDATE attempt_output SET bytes = greatest(bytes - (SELECT coalesce(sum(bytes), 0) FROM gone), 0)
        WHERE attempt_id = $1),
    stored AS (
        INSERT INTO stored_change (submitted_by, project, bytes)
        SELECT j.submitted_by, j.project, -(SELECT sum(bytes) FROM gone)
        FROM attempt a JOIN job j ON j.id = a.job_id
        WHERE a.id = $1 AND j.label = 'job' AND EXISTS (SELECT 1 FROM gone))
    SELECT count(*) FROM gone)sql"};
constexpr Statement kDeleteOutputNote{"retention_delete_output_note",
                                      "DELETE FROM attempt_output WHERE attempt_id = $1"};
constexpr Statement kMarkOutputRemoved{"retention_mark_output_removed",
                                       "UPDATE attempt SET output_removed_at = now() WHERE id = $1"};

constexpr Statement kLockJobs{"retention_lock_jobs", R"sql(
    SELECT id FROM job WHERE id = ANY ($1::text[]) AND state IN ('succeeded', 'failed', 'cancelled')
    ORDER BY id FOR UPDATE SKIP LOCKED)sql"};
// Before they go: what they had stored is free again.
constexpr Statement kGiveBack{"retention_give_back", R"sql(
    INSERT INTO stored_change (submitted_by, project, bytes)
    SELECT j.submitted_by, j.project,
           -sum(j.spec_bytes + (SELECT coalesce(sum(o.bytes), 0) FROM attempt a JOIN attempt_output o ON o.attempt_id = a.id
                                WHERE a.job_id = j.id))
    FROM job j WHERE j.id = ANY ($1::text[]) AND j.label = 'job' GROUP BY j.submitted_by, j.project)sql"};
constexpr Statement kSelectAttempts{"retention_select_attempts",
                                    "SELECT id FROM attempt WHERE job_id = ANY ($1::text[])"};
// What refers to others goes first.
constexpr Statement kDeleteOfAttempts[] = {
    {"retention_delete_outputs", "DELETE FROM job_output WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_output_notes", "DELETE FROM attempt_output WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_placements", "DELETE FROM placement WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_profiles", "DELETE FROM attempt_profile WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_operator_outcomes", "DELETE FROM operator_outcome WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_gpus", "DELETE FROM attempt_gpu WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_predictions", "DELETE FROM prediction WHERE attempt_id = ANY ($1::text[])"},
    {"retention_delete_late_ends", "DELETE FROM late_end WHERE metered AND attempt_id = ANY ($1::text[])"},
    {"retention_delete_attempts", "DELETE FROM attempt WHERE id = ANY ($1::text[])"}};
// The others' events go with their month (event_months).
constexpr Statement kSelectOfNoMonth{"retention_select_of_no_month", R"sql(
    SELECT gone.id FROM unnest($1::text[]) AS gone (id)
    WHERE NOT EXISTS (SELECT 1 FROM job_event_month m
                      WHERE NOT m.is_reduced AND gone.id >= m.first_id AND gone.id < m.past_id))sql"};
constexpr Statement kDeleteEvents{"retention_delete_events", "DELETE FROM job_event WHERE job_id = ANY ($1::text[])"};
constexpr Statement kDeleteOfJobs[] = {
    {"retention_delete_kept_outputs", "DELETE FROM kept_output WHERE job_id = ANY ($1::text[])"},
    {"retention_delete_learning_queue", "DELETE FROM learning_queue WHERE job_id = ANY ($1::text[])"},
    {"retention_delete_jobs", "DELETE FROM job WHERE id = ANY ($1::text[])"}};

constexpr Statement kLockProbeRuns{"retention_lock_probe_runs", R"sql(
    SELECT id, job_id FROM probe_run WHERE id = ANY ($1::text[]) AND state <> 'queued'
    ORDER BY id FOR UPDATE SKIP LOCKED)sql"};
constexpr Statement kDeleteOfProbeRuns[] = {
    {"retention_delete_measurements", "DELETE FROM measurement WHERE probe_run_id = ANY ($1::text[])"},
    {"retention_forget_repeated", "UPDATE probe_run SET repeats_run_id = NULL WHERE repeats_run_id = ANY ($1::text[])"},
    {"retention_forget_divided", "UPDATE probe_run SET divides_run_id = NULL WHERE divides_run_id = ANY ($1::text[])"},
    {"retention_delete_probe_runs", "DELETE FROM probe_run WHERE id = ANY ($1::text[])"}};

// The kinds that cost trust (FindingKind) say why a center is not believed until somebody dismisses them.
constexpr Statement kDeleteFindings{"retention_delete_findings", R"sql(
    DELETE FROM probe_finding WHERE id IN (
        SELECT id FROM probe_finding
        WHERE (dismissed_at IS NOT NULL OR kind NOT IN ('checksum', 'clock', 'rate'))
          AND found_at < $1::timestamptz AND coalesce(dismissed_at, found_at) < $1::timestamptz
        ORDER BY found_at, id LIMIT $2))sql"};

// From the chain's beginning only: what is kept must follow from the hash before it.
constexpr Statement kDeleteAudit{"retention_delete_audit", R"sql(
    DELETE FROM audit_log WHERE chain_number IN (
        SELECT chain_number FROM audit_log
        WHERE chain_number < coalesce((SELECT chain_number FROM audit_log
                                       WHERE at >= $1::timestamptz AND chain_number IS NOT NULL
                                       ORDER BY chain_number LIMIT 1), 9223372036854775807)
        ORDER BY chain_number LIMIT $2)
    RETURNING chain_number, chain_sha256)sql"};
constexpr Statement kMoveAuditBegin{"retention_move_audit_begin", R"sql(
    UPDATE audit_chain SET first_number = $1, first_sha256 = $2)sql"};
constexpr Statement kDeleteUsage{"retention_delete_usage", R"sql(
    DELETE FROM project_use WHERE (project, day, unit_type_id) IN (
        SELECT project, day, unit_type_id FROM project_use WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date
        ORDER BY day LIMIT $2))sql"};

// Of each unit the oldest: numbers ascend with the time of telling, which is our own clock's.
constexpr Statement kDeleteBalanceSteps{"retention_delete_balance_steps", R"sql(
    DELETE FROM balance_step WHERE (unit_id, number) IN (
        SELECT s.unit_id, s.number FROM balanced_unit u CROSS JOIN LATERAL (
            SELECT unit_id, number, told_at FROM balance_step WHERE unit_id = u.id ORDER BY number LIMIT $2::bigint) s
        WHERE (SELECT o.told_at FROM balance_step o WHERE o.unit_id = u.id ORDER BY o.number LIMIT 1) < $1::timestamptz
          AND s.told_at < $1::timestamptz LIMIT $2::bigint))sql"};
// Locked first: an agent may be adding to it.
constexpr Statement kDeleteBalancedUnits{"retention_delete_balanced_units", R"sql(
    DELETE FROM balanced_unit WHERE id IN (
        SELECT u.id FROM balanced_unit u WHERE u.told_at < $1::timestamptz
          AND NOT EXISTS (SELECT 1 FROM balance_step s WHERE s.unit_id = u.id)
        ORDER BY u.id FOR UPDATE SKIP LOCKED))sql"};

// The lock of those who change anything of a kind (server/sub_units): what is judged to have ended stays so. Nobody
// waits for another here, so no order is kept.
constexpr Statement kLockSubUnitKinds{"retention_lock_sub_unit_kinds",
                                      "SELECT kind FROM sub_unit_kind FOR UPDATE SKIP LOCKED"};
constexpr Statement kDeleteSubUnitGrants{"retention_delete_sub_unit_grants", R"sql(
    DELETE FROM sub_unit_grant WHERE id IN (
        SELECT g.id FROM sub_unit_grant g
        WHERE g.state <> 'moving' AND g.ended_at < $1::timestamptz AND g.kind = ANY ($2::text[])
          AND NOT EXISTS (SELECT 1 FROM sub_unit_grant back WHERE back.undo_of = g.id)
          AND NOT EXISTS (SELECT 1 FROM sub_unit_request r
                          WHERE r.undo_of = g.id AND r.state NOT IN ('refused', 'cancelled'))
        ORDER BY g.ended_at, g.id LIMIT $3))sql"};
constexpr Statement kDeleteSubUnitRequests{"retention_delete_sub_unit_requests", R"sql(
    DELETE FROM sub_unit_request WHERE id IN (
        SELECT r.id FROM sub_unit_request r
        WHERE r.free_count = 0 AND r.ended_at IS NOT NULL AND r.ended_at < $1::timestamptz
          AND r.kind = ANY ($2::text[])
          AND NOT EXISTS (SELECT 1 FROM sub_unit_grant g WHERE g.release_id = r.id)
          AND NOT EXISTS (SELECT 1 FROM sub_unit_grant g WHERE g.request_id = r.id)
        ORDER BY r.ended_at, r.id LIMIT $3))sql"};
// Of what is kept, the whole history is. Not as NOT EXISTS: PostgreSQL would join all that is old with all requests.
constexpr Statement kDeleteSubUnitEvents{"retention_delete_sub_unit_events", R"sql(
    DELETE FROM sub_unit_event WHERE id IN (
        SELECT e.id FROM sub_unit_event e
        WHERE e.at < $1::timestamptz AND e.kind = ANY ($2::text[])
          AND (SELECT r.id FROM sub_unit_request r WHERE r.id = e.request_id) IS NULL
          AND (SELECT g.id FROM sub_unit_grant g WHERE g.id = e.grant_id) IS NULL
        ORDER BY e.at, e.id LIMIT $3))sql"};

constexpr Statement kTryLock{"retention_try_lock", "SELECT pg_try_advisory_xact_lock(7233005)"};

// pg_total_relation_size waits for nobody who reads or writes, and does not read the tables.
constexpr Statement kSelectStoredBytes{"retention_select_stored_bytes", R"sql(
    SELECT kind, sum(pg_total_relation_size(oid))::float8 AS bytes
    FROM (SELECT c.oid, CASE WHEN c.relname IN ('job_output', 'attempt_output') THEN 'output'
                             WHEN c.relname LIKE 'job\_event\_%' THEN 'events'
                             WHEN c.relname IN ('placement', 'prediction', 'operator_outcome') THEN 'decisions'
                             WHEN c.relname IN ('job', 'attempt', 'attempt_profile', 'attempt_gpu', 'learning_queue',
                                                'kept_output') THEN 'jobs'
                             WHEN c.relname IN ('probe_run', 'measurement', 'copy_measurement', 'probe_finding') THEN 'measurements'
                             WHEN c.relname = 'audit_log' THEN 'audit'
                             WHEN c.relname IN ('project_use', 'usage_record', 'score_evidence', 'ledger_entry',
                                                'charge', 'posting') THEN 'usage'
                             WHEN c.relname IN ('schedule_cycle', 'schedule_part') THEN 'cycles'
                             WHEN c.relname IN ('balance_step', 'balanced_unit') THEN 'balance'
                             WHEN c.relname LIKE 'sub\_unit\_%' THEN 'sub_units'
                             ELSE 'other' END AS kind
          FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace) t
    GROUP BY kind)sql"};

std::vector<Due> select_due(pqxx::work& transaction, const Statement& statement, Timestamp before, const Due& after,
                            std::int64_t limit)
{
    std::vector<Due> due;
    const std::string from = after.at.empty() ? std::string("-infinity") : after.at;
    for (const pqxx::row& row : exec(transaction, statement, format_rfc3339(before), from, after.id, limit))
        due.push_back({row["at"].as<std::string>(), row["id"].as<std::string>()});
    return due;
}

std::vector<std::string> select_ids(pqxx::work& transaction, const Statement& statement, const std::string& array)
{
    std::vector<std::string> ids;
    for (const pqxx::row& row : exec(transaction, statement, array))
        ids.push_back(row[0].as<std::string>());
    return ids;
}

enum class EventsGo { kAtOnce, kWithTheirMonth };

std::int64_t remove_jobs_and(EventsGo how, pqxx::work& transaction, const std::vector<std::string>& jobs)
{
    const std::vector<std::string> locked = select_ids(transaction, kLockJobs, sql_array(jobs));
    const std::string job_array = sql_array(locked);
    const std::vector<std::string> attempts = select_ids(transaction, kSelectAttempts, job_array);
    exec(transaction, kGiveBack, job_array);
    if (!attempts.empty()) {
        for (const Statement& statement : kDeleteOfAttempts)
            exec(transaction, statement, sql_array(attempts));
    }
    const std::vector<std::string> with_events =
        how == EventsGo::kAtOnce ? locked : select_ids(transaction, kSelectOfNoMonth, job_array);
    if (!with_events.empty()) exec(transaction, kDeleteEvents, sql_array(with_events));
    for (const Statement& statement : kDeleteOfJobs)
        exec(transaction, statement, job_array);
    return static_cast<std::int64_t>(locked.size());
}

} // namespace

std::vector<Due> select_output_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit)
{
    return select_due(transaction, kSelectOutputDue, before, after, limit);
}

std::vector<Due> select_jobs_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit)
{
    return select_due(transaction, kSelectJobsDue, before, after, limit);
}

std::vector<Due> select_probe_runs_due(pqxx::work& transaction, Timestamp before, const Due& after, std::int64_t limit)
{
    return select_due(transaction, kSelectProbeRunsDue, before, after, limit);
}

RemovedOutput remove_output(pqxx::work& transaction, const std::string& attempt, std::int64_t limit)
{
    RemovedOutput removed;
    removed.pieces = exec(transaction, kDeleteOutput, attempt, limit)[0][0].as<std::int64_t>();
    removed.is_complete = removed.pieces < limit;
    if (!removed.is_complete) return removed;
    exec(transaction, kDeleteOutputNote, attempt);
    exec(transaction, kMarkOutputRemoved, attempt);
    return removed;
}

std::int64_t remove_jobs(pqxx::work& transaction, const std::vector<std::string>& jobs)
{
    return remove_jobs_and(EventsGo::kWithTheirMonth, transaction, jobs);
}

std::int64_t remove_probe_runs(pqxx::work& transaction, const std::vector<std::string>& runs)
{
    std::vector<std::string> locked;
    std::vector<std::string> jobs;
    for (const pqxx::row& row : exec(transaction, kLockProbeRuns, sql_array(runs))) {
        locked.push_back(row["id"].as<std::string>());
        jobs.push_back(row["job_id"].as<std::string>());
    }
    const std::string run_array = sql_array(locked);
    for (const Statement& statement : kDeleteOfProbeRuns)
        exec(transaction, statement, run_array);
    // They are few, and most outlive the jobs of their month.
    remove_jobs_and(EventsGo::kAtOnce, transaction, jobs);
    return static_cast<std::int64_t>(locked.size());
}

std::int64_t remove_findings(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    return static_cast<std::int64_t>(exec(transaction, kDeleteFindings, format_rfc3339(before), limit).affected_rows());
}

std::int64_t remove_audit(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    const pqxx::result rows = exec(transaction, kDeleteAudit, format_rfc3339(before), limit);
    std::int64_t last_number = 0;
    std::string last_sha256;
    for (const pqxx::row& row : rows) {
        const auto number = row[0].as<std::int64_t>();
        if (number <= last_number) continue;
        last_number = number;
        last_sha256 = row[1].as<std::string>();
    }
    if (!rows.empty()) exec(transaction, kMoveAuditBegin, last_number, last_sha256);
    return static_cast<std::int64_t>(rows.size());
}

std::int64_t remove_usage(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    return static_cast<std::int64_t>(exec(transaction, kDeleteUsage, format_rfc3339(before), limit).affected_rows());
}

std::int64_t remove_balance_steps(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    const std::string until = format_rfc3339(before);
    const auto removed =
        static_cast<std::int64_t>(exec(transaction, kDeleteBalanceSteps, until, limit).affected_rows());
    exec(transaction, kDeleteBalancedUnits, until);
    return removed;
}

std::int64_t remove_sub_unit_rows(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    const std::string until = format_rfc3339(before);
    std::vector<std::string> kinds;
    for (const pqxx::row& row : exec(transaction, kLockSubUnitKinds))
        kinds.push_back(row[0].as<std::string>());
    const std::string locked = sql_array(kinds);
    std::int64_t removed = 0;
    // What refers to others goes first.
    for (const Statement& statement : {kDeleteSubUnitGrants, kDeleteSubUnitRequests, kDeleteSubUnitEvents})
        removed +=
            static_cast<std::int64_t>(exec(transaction, statement, until, locked, limit - removed).affected_rows());
    return removed;
}

bool lock_retention(pqxx::work& transaction)
{
    return exec(transaction, kTryLock)[0][0].as<bool>();
}

std::vector<StoredBytes> select_stored_bytes(pqxx::work& transaction)
{
    std::vector<StoredBytes> stored;
    for (const pqxx::row& row : exec(transaction, kSelectStoredBytes))
        stored.push_back({row["kind"].as<std::string>(), row["bytes"].as<double>()});
    return stored;
}

} // namespace fathom::server
