#include "server/jobs/job_row.hpp"

#include "core/model/job_parts.hpp"
#include "server/store/column.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

// Literals, so that statements are joined by the compiler and stay constants.
#define FATHOM_JOB_COLUMNS                                                                                             \
    "j.id, j.label, j.name, j.project, j.job_type, j.operators_from, j.state, j.version, j.submitted_at, "             \
    "j.submitted_by, "                                                                                                 \
    "j.state_changed_at, j.waiting_reason, j.exit_code, j.end_reason, j.started_at, j.ended_at, j.run_s, "             \
    "a.id AS a_id, a.epoch AS a_epoch, a.center_id AS a_center_id, c.name AS a_center, "                               \
    "a.unit_type_id AS a_unit_type_id, u.name AS a_unit_type, a.unit_count AS a_unit_count, a.state AS a_state, "      \
    "a.outcome AS a_outcome, a.cause AS a_cause, a.exit_code AS a_exit_code, a.signal AS a_signal, a.detail AS "       \
    "a_detail, "                                                                                                       \
    "a.created_at AS a_created_at, a.dispatched_at AS a_dispatched_at, a.started_at AS a_started_at, "                 \
    "q.reason AS q_reason, q.expected_start AS q_expected_start, q.told_at AS q_told_at, "                             \
    "a.ended_at AS a_ended_at, a.run_s AS a_run_s, a.cpu_s AS a_cpu_s, a.max_resident_bytes AS a_max_resident_bytes, " \
    "a.stdout_bytes AS a_stdout_bytes, a.stderr_bytes AS a_stderr_bytes, a.output_removed_at AS a_output_removed_at, " \
    "to_jsonb(a.cpus)::text AS a_cpus, "                                                                               \
    "to_jsonb(a.units)::text AS a_units, a.outputs::text AS a_outputs, a.staging::text AS a_staging, a.nodes AS "      \
    "a_nodes, a.energy_j AS a_energy_j, a.decided_by AS "                                                              \
    "a_decided_by, "                                                                                                   \
    "jsonb_array_length(w.place #> '{prediction,operators}') > 0 AS has_prediction, (w.place -> 'prediction' ->> "     \
    "'run_s')::float8 AS p_run_s, "                                                                                    \
    "(w.place -> 'prediction' ->> 'low_s')::float8 AS p_low_s, "                                                       \
    "(w.place -> 'prediction' ->> 'high_s')::float8 AS p_high_s, coalesce(w.place #>> "                                \
    "'{expected_start,wait_s}', w.place ->> 'wait_s')::float8 AS p_wait_s, "                                           \
    "CASE WHEN j.steps #> '{parts,0}' IS NOT NULL THEN (j.steps -> 'parts')::text END AS parts, "                      \
    "coalesce((j.steps ->> 'part')::integer, 0) AS part, "                                                             \
    "rp.run_s AS rp_run_s, rp.low_s AS rp_low_s, rp.high_s AS rp_high_s "

#define FATHOM_JOB_JOINS                                                                                               \
    "LEFT JOIN LATERAL (SELECT * FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1) a ON true "             \
    "LEFT JOIN attempt_queue q ON q.attempt_id = a.id AND a.state = 'dispatched' "                                     \
    "LEFT JOIN center c ON c.id = a.center_id LEFT JOIN unit_type u ON u.id = a.unit_type_id "                         \
    "LEFT JOIN prediction rp ON rp.attempt_id = a.id AND j.steps IS NOT NULL "                                         \
    "LEFT JOIN placement p ON p.attempt_id = a.id "                                                                    \
    "LEFT JOIN LATERAL (SELECT p.decision -> 'candidates' -> (p.decision ->> 'winner')::int AS place) w ON true "

AttemptRecord to_attempt_record(const pqxx::row& row)
{
    AttemptRecord attempt;
    attempt.id = row["a_id"].as<std::string>();
    attempt.epoch = row["a_epoch"].as<std::int64_t>();
    attempt.center_id = row["a_center_id"].as<std::string>();
    attempt.center = row["a_center"].as<std::string>();
    attempt.unit_type_id = row["a_unit_type_id"].as<std::string>();
    attempt.unit_type = row["a_unit_type"].as<std::string>();
    attempt.unit_count = row["a_unit_count"].as<std::int64_t>();
    attempt.state = row["a_state"].as<std::string>();
    attempt.outcome = row["a_outcome"].as<std::string>("");
    attempt.cause = row["a_cause"].as<std::string>();
    attempt.exit_code = optional_of<std::int64_t>(row["a_exit_code"]);
    attempt.signal = optional_of<std::int64_t>(row["a_signal"]);
    attempt.detail = row["a_detail"].as<std::string>();
    attempt.created_at = to_timestamp(row["a_created_at"]);
    attempt.dispatched_at = to_optional_timestamp(row["a_dispatched_at"]);
    if (!row["q_reason"].is_null())
        attempt.center_queue = {.reason = row["q_reason"].as<std::string>(),
                                .expected_start = to_optional_timestamp(row["q_expected_start"]),
                                .told_at = to_timestamp(row["q_told_at"])};
    attempt.started_at = to_optional_timestamp(row["a_started_at"]);
    attempt.ended_at = to_optional_timestamp(row["a_ended_at"]);
    attempt.run_s = optional_of<double>(row["a_run_s"]);
    attempt.cpu_s = optional_of<double>(row["a_cpu_s"]);
    attempt.max_resident_bytes = optional_of<std::int64_t>(row["a_max_resident_bytes"]);
    attempt.stdout_bytes = optional_of<std::int64_t>(row["a_stdout_bytes"]);
    attempt.stderr_bytes = optional_of<std::int64_t>(row["a_stderr_bytes"]);
    attempt.output_removed_at = to_optional_timestamp(row["a_output_removed_at"]);
    attempt.cpus = row["a_cpus"].as<std::string>();
    attempt.units = row["a_units"].as<std::string>();
    attempt.outputs = row["a_outputs"].as<std::string>();
    attempt.staging = row["a_staging"].as<std::string>("null");
    attempt.nodes = row["a_nodes"].as<std::string>();
    attempt.energy_j = row["a_energy_j"].as<std::int64_t>();
    attempt.decided_by = row["a_decided_by"].as<std::string>();
    return attempt;
}

/// What the placement of the newest attempt predicted. A job without operators has a place, but its time is not.
std::optional<PredictedRecord> to_predicted(const pqxx::row& row)
{
    if (!row["has_prediction"].as<bool>(false)) return std::nullopt;
    PredictedRecord predicted;
    predicted.wait_s = optional_of<double>(row["p_wait_s"]);
    // A decision that knew nothing of the run has 0.
    if (!(row["p_run_s"].as<double>(0) > 0)) return predicted;
    predicted.run_s = optional_of<double>(row["p_run_s"]);
    predicted.low_s = optional_of<double>(row["p_low_s"]);
    predicted.high_s = optional_of<double>(row["p_high_s"]);
    return predicted;
}

/// What the placement of a part's attempt predicted of its programs alone: `predicted` of a job has staging in it.
std::optional<PartRun> to_part_run(const pqxx::row& row)
{
    if (!(row["rp_run_s"].as<double>(0) > 0)) return std::nullopt;
    return PartRun{row["rp_run_s"].as<double>(), row["rp_low_s"].as<double>(), row["rp_high_s"].as<double>()};
}

/// Of a divided job what is predicted of the whole. Its newest attempt is that of the part whose turn it is, unless
/// that has no place yet.
void predict_parts(JobRecord& job, const pqxx::row& row)
{
    const std::optional<std::vector<JobPart>> parts = parse_stored_parts(to_json_value(row["parts"]));
    if (!parts) return;
    const auto part = row["part"].as<std::size_t>();
    const bool is_placed =
        job.attempt && part < parts->size() && (part == 0 || (*parts)[part - 1].attempt_id != job.attempt->id);
    if (is_placed) job.part_predicted = to_part_run(row);
    PredictedRecord predicted = job.predicted.value_or(PredictedRecord{});
    const PartRun run = predicted_run(*parts, part, job.part_predicted);
    const bool has_interval = job.part_predicted || std::any_of(parts->begin(), parts->end(), [](const JobPart& one) {
                                  return one.placed.has_value();
                              });
    predicted.run_s = run.run_s;
    predicted.low_s = has_interval ? std::optional(run.low_s) : std::nullopt;
    predicted.high_s = has_interval ? std::optional(run.high_s) : std::nullopt;
    job.predicted = predicted;
}

} // namespace

// What was submitted; `spec` of a divided job is that of the part that runs.
#define FATHOM_SUBMITTED_SPEC "coalesce(j.steps -> 'whole', j.spec)"

// How far staging is stands at the end of what a running attempt has written.
const Statement kSelectJob{"jobs_select_job",
                           "SELECT " FATHOM_SUBMITTED_SPEC "::text AS spec, (j.steps - 'whole')::text AS steps, "
                           "CASE WHEN a.state = 'running' AND j.spec #> '{inputs,0}' IS NOT NULL THEN "
                           "(SELECT substring(o.data FROM greatest(length(o.data) - 4095, 1)) FROM job_output o "
                           "WHERE o.attempt_id = a.id AND o.stream = 'stderr' ORDER BY o.offset_bytes DESC LIMIT 1) "
                           "END AS a_stderr_end, " FATHOM_JOB_COLUMNS "FROM job j " FATHOM_JOB_JOINS "WHERE j.id = $1"};

#define FATHOM_WITHOUT_PROGRAM "(" FATHOM_SUBMITTED_SPEC " - '{files,script,command,environment}'::text[])"

// A page of a thousand jobs with long scripts, or long lists of data, must not become gigabytes.
const char* const kReadJobs =
    "SELECT CASE WHEN octet_length(" FATHOM_SUBMITTED_SPEC "::text) <= 65536 THEN " FATHOM_SUBMITTED_SPEC "::text "
    "WHEN octet_length(" FATHOM_WITHOUT_PROGRAM "::text) <= 65536 THEN " FATHOM_WITHOUT_PROGRAM "::text "
    "ELSE (" FATHOM_WITHOUT_PROGRAM " - '{inputs,outputs,data}'::text[])::text END AS spec, " FATHOM_JOB_COLUMNS;
const char* const kJobJoins = FATHOM_JOB_JOINS;

JobRecord to_job_record(const pqxx::row& row)
{
    JobRecord job;
    job.id = {row["id"].as<std::string>()};
    job.label = row["label"].as<std::string>();
    job.name = row["name"].as<std::string>();
    job.project = row["project"].as<std::string>();
    job.job_type = row["job_type"].as<std::string>();
    job.operators_from = row["operators_from"].as<std::string>();
    job.spec = row["spec"].as<std::string>();
    job.state = row["state"].as<std::string>();
    job.version = row["version"].as<std::int64_t>();
    job.submitted_at = to_timestamp(row["submitted_at"]);
    job.submitted_by = row["submitted_by"].as<std::string>();
    job.state_changed_at = to_timestamp(row["state_changed_at"]);
    job.waiting_reason = row["waiting_reason"].as<std::string>();
    job.exit_code = optional_of<std::int64_t>(row["exit_code"]);
    job.end_reason = row["end_reason"].as<std::string>();
    job.started_at = to_optional_timestamp(row["started_at"]);
    job.ended_at = to_optional_timestamp(row["ended_at"]);
    job.run_s = optional_of<double>(row["run_s"]);
    if (!row["a_id"].is_null()) job.attempt = to_attempt_record(row);
    job.predicted = to_predicted(row);
    if (!row["parts"].is_null()) predict_parts(job, row);
    return job;
}

} // namespace fathom::server
