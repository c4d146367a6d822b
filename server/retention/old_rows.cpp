#include "server/retention/old_rows.hpp"

#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <initializer_list>

namespace fathom::server {
namespace {

constexpr Statement kDeleteOldKeptOutputs{"retention_delete_old_kept_outputs", R"sql(
    DELETE FROM kept_output WHERE (job_id, path, center_id) IN (
        SELECT job_id, path, center_id FROM kept_output WHERE told_at < $1::timestamptz ORDER BY told_at LIMIT $2))sql"};
// A type may be in use though nothing was learned of late: by jobs that name no operators. Not as NOT EXISTS:
// PostgreSQL might join all types with all jobs.
constexpr Statement kDeleteJobTypes{"retention_delete_job_types", R"sql(
    DELETE FROM job_type WHERE (name, submitted_by, project) IN (
        SELECT t.name, t.submitted_by, t.project FROM job_type t
        WHERE t.learned_at < $1::timestamptz
          AND (SELECT j.id FROM job j WHERE j.job_type = t.name AND j.job_type <> '' LIMIT 1) IS NULL
        ORDER BY t.learned_at LIMIT $2))sql"};
// A task and the run of its pre-test name each other: of those below the run may go, once measurements do.
#define FATHOM_FORGOTTEN_TASK                                                                                          \
    "t.origin = 'job' AND t.state_changed_at < $1::timestamptz "                                                       \
    "AND (SELECT y.name FROM job_type y WHERE y.probe_task_id = t.id LIMIT 1) IS NULL "                                \
    "AND (SELECT s.id FROM probe_task s WHERE s.scaled_to = t.id LIMIT 1) IS NULL "                                    \
    "AND (SELECT j.id FROM job j WHERE j.job_type = t.job_type AND j.job_type <> '' LIMIT 1) IS NULL "                 \
    "AND (SELECT c.id FROM probe_schedule c WHERE c.run_order ->> 'probe_task_id' = t.id "                             \
    "OR c.run_order ->> 'job_type' = t.job_type LIMIT 1) IS NULL "
constexpr Statement kForgetPretests{"retention_forget_pretests", R"sql(
    UPDATE probe_task SET pretest_run_id = NULL WHERE id IN (
        SELECT t.id FROM probe_task t
        WHERE t.pretest_run_id IS NOT NULL AND t.state <> 'testing' AND )sql" FATHOM_FORGOTTEN_TASK R"sql(
        ORDER BY t.state_changed_at LIMIT $2))sql"};
// Those that were made for types of jobs, where nothing names them any more.
constexpr Statement kDeleteProbeTasks{"retention_delete_probe_tasks", R"sql(
    DELETE FROM probe_task WHERE id IN (
        SELECT t.id FROM probe_task t
        WHERE (SELECT r.id FROM probe_run r WHERE r.probe_task_id = t.id LIMIT 1) IS NULL
          AND )sql" FATHOM_FORGOTTEN_TASK R"sql(
        ORDER BY t.state_changed_at LIMIT $2))sql"};
// What is yet to be metered stays.
constexpr Statement kDeleteReservations{"retention_delete_reservations", R"sql(
    DELETE FROM advance_reservation WHERE id IN (
        SELECT id FROM advance_reservation WHERE metered AND least(ends_at, cancelled_at) < $1::timestamptz
        ORDER BY least(ends_at, cancelled_at), id LIMIT $2))sql"};
constexpr Statement kDeleteMaintenance{"retention_delete_maintenance", R"sql(
    DELETE FROM maintenance_window WHERE id IN (
        SELECT id FROM maintenance_window WHERE least(ends_at, cancelled_at) < $1::timestamptz
        ORDER BY least(ends_at, cancelled_at), id LIMIT $2))sql"};

/// Each statement removes what those before it have left of `limit`.
std::int64_t remove_by(std::initializer_list<Statement> statements, pqxx::work& transaction, Timestamp before,
                       std::int64_t limit)
{
    std::int64_t removed = 0;
    for (const Statement& statement : statements)
        removed += static_cast<std::int64_t>(
            exec(transaction, statement, format_rfc3339(before), limit - removed).affected_rows());
    return removed;
}

} // namespace

std::int64_t remove_kept_outputs(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    return remove_by({kDeleteOldKeptOutputs}, transaction, before, limit);
}

std::int64_t remove_job_types(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    const std::int64_t removed = remove_by({kDeleteJobTypes, kDeleteProbeTasks}, transaction, before, limit);
    remove_by({kForgetPretests}, transaction, before, limit);
    return removed;
}

std::int64_t remove_calendar_rows(pqxx::work& transaction, Timestamp before, std::int64_t limit)
{
    return remove_by({kDeleteReservations, kDeleteMaintenance}, transaction, before, limit);
}

} // namespace fathom::server
