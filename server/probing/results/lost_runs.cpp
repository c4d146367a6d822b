#include "server/probing/results/lost_runs.hpp"

#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"
#include "server/store/savepoint.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kMarkLost = R"sql(
    UPDATE probe_run r
    SET state = 'lost', ended_at = now(), error = 'center ' || c.name || ' fell silent while it had the probe'
    FROM job j, center c
    WHERE r.state = 'queued' AND j.id = r.job_id AND j.state = 'lost' AND c.id = r.center_id
    RETURNING r.id, r.job_id, r.error, c.name AS center)sql";

// Older ones say little about what is worth measuring now; whoever wants them orders them. Copies side by side that
// Fathom itself ordered must not wait for several free units: refresh_copies() looks again when there are.
constexpr const char* kSelectToRepeat = R"sql(
    SELECT r.id
    FROM probe_run r JOIN center c ON c.id = r.center_id JOIN unit_type u ON u.id = r.unit_type_id
    JOIN probe_task t ON t.id = r.probe_task_id
    WHERE r.state = 'lost' AND r.ended_at > now() - interval '7 days'
      AND c.state = 'online' AND NOT c.drained AND c.revoked_at IS NULL AND u.active
      AND t.state <> 'retired' AND (r.mode = 'strong' OR r.created_by <> 'fathom')
      AND (r.cause <> 'pretest' OR (t.state = 'testing' AND t.pretest_run_id = r.id))
      AND NOT EXISTS (SELECT 1 FROM probe_run n
                      WHERE n.probe_task_id = r.probe_task_id AND n.unit_type_id = r.unit_type_id
                        AND n.unit_count = r.unit_count AND n.mode = r.mode AND n.id > r.id)
      AND (SELECT count(*) FROM probe_run a
           WHERE a.id = r.repeats_run_id
              OR a.id = (SELECT b.repeats_run_id FROM probe_run b WHERE b.id = r.repeats_run_id)) < 2
    ORDER BY r.id LIMIT 100)sql";

constexpr const char* kMovePretest =
    "UPDATE probe_task SET pretest_run_id = $2 WHERE pretest_run_id = $1 AND state = 'testing'";

} // namespace

Result<void> LostRuns::look(pqxx::work& transaction) const
{
    for (const pqxx::row& row : transaction.exec(kMarkLost)) {
        const JobId job{row["job_id"].as<std::string>()};
        writer_->stop_probe_job(transaction, job, row["error"].as<std::string>());
        log_after_commit(LogLevel::kWarning, "probe_run_lost",
                         {{"probe_run_id", row["id"].as<std::string>()},
                          {"job_id", job.value},
                          {"center", row["center"].as<std::string>()}});
        notify(transaction, "route", ""); // jobs that wait for it go on
    }
    for (const pqxx::row& row : transaction.exec(kSelectToRepeat)) {
        const auto run = row[0].as<std::string>();
        const Result<void> done = try_part(transaction, "probe_run_not_repeated", {"probe_run_id", run},
                                           [&] { return repeat_run(transaction, *writer_, run); });
        if (!done) return done;
    }
    return {};
}

Result<void> repeat_run(pqxx::work& transaction, ProbeJobWriter& writer, const std::string& run)
{
    const std::optional<ProbeRunRecord> lost = select_run(transaction, run);
    if (!lost) return {};
    const std::optional<ProbeTaskRecord> task = lock_task(transaction, lost->probe_task_id.value);
    if (!task) return {};
    const RunPlace place{.unit_type_id = lost->unit_type_id,
                         .center_id = lost->center_id,
                         .unit_count = lost->count_by == "center" ? 0 : lost->unit_count,
                         .mode = lost->mode,
                         .selection = lost->selection,
                         .cause = lost->cause,
                         .created_by = lost->created_by,
                         .seed = 0,
                         .order_id = lost->order_id,
                         .count_by = lost->count_by,
                         .able_unit_types = {},
                         .repeats_run_id = run};
    const Result<ProbeRunId> again = queue_run(transaction, writer, *task, place);
    if (!again) {
        // Nothing was written; the next look may find room in the center's budget.
        if (again.error().code == Errc::kInfeasible) return {};
        return again.error();
    }
    transaction.exec_params0(kMovePretest, run, again->value);
    notify(transaction, "route", "");
    log_after_commit(LogLevel::kInfo, "probe_run_repeated",
                     {{"probe_run_id", again->value}, {"repeats_run_id", run}, {"center", lost->center}});
    return {};
}

} // namespace fathom::server
