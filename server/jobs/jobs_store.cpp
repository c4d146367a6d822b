#include "server/jobs/jobs_store.hpp"

#include "core/model/job_parts.hpp"
#include "schema/link/messages.hpp"
#include "server/jobs/job_row.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <unordered_set>

namespace fathom::server {
namespace {

// Jobs, their keys, their first events and the wake-ups (as notify() sends them) in one round trip: this statement is
// most of what a submission costs. What is known of the specification is told, so that PostgreSQL reads it once and
// writes it once. A key that another transaction has just taken (claim_key) is left to whoever asks for it alone:
// waited for here, it would hold up everybody's jobs. Keys are taken in their order, so that two such statements never
// wait for each other where a replica of an earlier version locks none. A replica writes one group at a time, 512 jobs
// at most: so many locks for the 8 connections that it has are what PostgreSQL has room for by default
// (max_locks_per_transaction, 64 a connection).
constexpr Statement kInsertJobs{"jobs_insert_jobs", R"sql(
    WITH offered AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                             $8::text[], $9::text[], $10::integer[], $11::text[], $12::text[], $13::text[],
                             $14::text[])
            WITH ORDINALITY AS n (id, label, name, project, job_type, spec, submitted_by, operators_from,
                                  secret_environment, priority, gang, key, request_sha256, steps, place)),
    keyed AS MATERIALIZED (
        SELECT DISTINCT ON (submitted_by, key) submitted_by, key, request_sha256, id
        FROM offered WHERE key <> '' ORDER BY submitted_by, key, place),
    taken AS (
        INSERT INTO idempotency_key (token_id, key, request_sha256, response_status, response_jobs)
        SELECT submitted_by, key, request_sha256, 201, ARRAY[id] FROM keyed
        WHERE pg_try_advisory_xact_lock(7233019, hashtext(submitted_by || ' ' || key)) ORDER BY submitted_by, key
        ON CONFLICT (token_id, key) DO NOTHING
        RETURNING response_jobs[1] AS id),
    added AS (
        INSERT INTO job (id, label, name, project, job_type, spec, submitted_by, operators_from,
                         secret_environment, priority, gang, steps, spec_bytes)
        SELECT n.id, n.label, n.name, n.project, n.job_type, n.spec::jsonb, n.submitted_by, n.operators_from,
               nullif(n.secret_environment, ''), n.priority, n.gang, nullif(n.steps, '')::jsonb,
               octet_length(n.spec) + octet_length(n.steps)
        FROM offered n WHERE n.key = '' OR n.id IN (SELECT id FROM taken)
        RETURNING id, label, submitted_by, project, spec_bytes),
    stored AS (
        INSERT INTO stored_change (submitted_by, project, bytes)
        SELECT submitted_by, project, sum(spec_bytes) FROM added WHERE label = 'job' GROUP BY submitted_by, project),
    events AS (
        INSERT INTO job_event (job_id, state, cause, evidence)
        SELECT id, 'queued', 'submitted', jsonb_build_object('submitted_by', submitted_by) FROM added
        RETURNING id)
    SELECT now() AS at, array_to_json(ARRAY(SELECT id FROM added)) AS added,
           CASE WHEN count(*) > 0 THEN pg_notify('fathom', 'route submitted') END,
           CASE WHEN count(*) > 0 THEN pg_notify('fathom', 'event ' || max(id)) END
    FROM events)sql"};

constexpr Statement kSelectJobsAsSubmitted{"jobs_select_jobs_as_submitted", R"sql(
    SELECT j.id, j.label, j.name, j.project, j.job_type, j.operators_from,
           coalesce(j.steps -> 'whole', j.spec)::text AS spec, j.steps, j.submitted_at, j.submitted_by
    FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place) JOIN job j ON j.id = wanted.id
    ORDER BY wanted.place)sql"};

constexpr const char* kSelectUsedProjects = R"sql(
    SELECT p.name FROM unnest($1::text[]) AS p (name) WHERE EXISTS (SELECT 1 FROM job j WHERE j.project = p.name))sql";

constexpr const char* kLockJob = R"sql(
    SELECT label, project, state, version, submitted_by, cancel_requested_at IS NOT NULL AS cancel_requested
    FROM job WHERE id = $1 FOR UPDATE)sql";

constexpr const char* kLockLiveAttempt = R"sql(
    SELECT id, state, dispatched_at IS NOT NULL AS sent, center_id
    FROM attempt WHERE job_id = $1 AND state <> 'ended' FOR UPDATE)sql";

constexpr const char* kUpdateCancelRequested = R"sql(
    UPDATE job SET cancel_requested_at = clock_timestamp(), version = version + 1 WHERE id = $1)sql";

constexpr const char* kSelectAttemptOf = R"sql(
    SELECT id, output_removed_at FROM attempt WHERE job_id = $1 AND (id = $2 OR epoch::text = $2))sql";

// A center tells the end of an attempt before its last output, where there is much of it. What has not come a minute
// later, by our own clock, is not waited for. $3: an attempt, which had ended when the next one was made; '': the
// newest, which ends with its job: one that is placed again goes on elsewhere.
constexpr const char* kSelectOutputState = R"sql(
    SELECT j.submitted_by, a.id AS attempt_id, CASE WHEN e.is_ended THEN a.bytes END AS end_bytes,
           e.is_ended AND (a.id IS NULL OR a.bytes IS NULL OR a.ended_since < now() - interval '1 minute'
                           OR EXISTS (SELECT 1 FROM attempt_output t
                                      WHERE t.attempt_id = a.id AND t.cut_at IS NOT NULL)) AS is_closed
    FROM (SELECT id, submitted_by, state_changed_at, state IN ('succeeded', 'failed', 'cancelled') AS is_ended
          FROM job WHERE id = $1) j
    LEFT JOIN LATERAL
        (SELECT t.id, t.state, CASE $2 WHEN 'stdout' THEN t.stdout_bytes ELSE t.stderr_bytes END AS bytes,
                coalesce((SELECT min(created_at) FROM attempt WHERE job_id = j.id AND epoch > t.epoch),
                         j.state_changed_at) AS ended_since
         FROM attempt t WHERE t.job_id = j.id AND ($3 = '' OR t.id = $3) ORDER BY t.epoch DESC LIMIT 1) a ON true
    CROSS JOIN LATERAL
        (SELECT CASE $3 WHEN '' THEN j.is_ended ELSE coalesce(a.state = 'ended', true) END AS is_ended) e)sql";

// Pieces may overlap, and one that begins earlier may end later. $4: the most bytes of a piece.
constexpr Statement kSelectOutput{"jobs_select_output", R"sql(
    SELECT offset_bytes, data FROM job_output
    WHERE attempt_id = $1 AND stream = $2 AND offset_bytes > $3::bigint - $4::bigint
      AND offset_bytes + length(data) > $3::bigint
    ORDER BY offset_bytes LIMIT 8)sql"};

constexpr const char* kCountOpenJobs = R"sql(
    SELECT state, count(*) AS count FROM job WHERE state IN ('queued', 'metering') GROUP BY state
    UNION ALL
    SELECT state, count(*) FROM job WHERE state IN ('placed', 'dispatched', 'running', 'lost') GROUP BY state)sql";

/// The parameters of kInsertJobs.
class JobColumns {
  public:
    void add(const SubmittedJob& submitted)
    {
        const JobRecord& job = *submitted.job;
        ids_.add(job.id.value);
        labels_.add(job.label);
        names_.add(job.name);
        projects_.add(job.project);
        types_.add(job.job_type);
        specs_.add(job.spec);
        owners_.add(job.submitted_by);
        sources_.add(job.operators_from);
        secrets_.add(job.secrets);
        priorities_.add(job.priority);
        gangs_.add(job.gang);
        keys_.add(submitted.key);
        digests_.add(submitted.request_sha256);
        steps_.add(job.steps);
    }

    /// The row of its answer. Uses the columns up.
    pqxx::row insert(pqxx::transaction_base& transaction)
    {
        return exec(transaction, kInsertJobs, ids_.take(), labels_.take(), names_.take(), projects_.take(),
                    types_.take(), specs_.take(), owners_.take(), sources_.take(), secrets_.take(), priorities_.take(),
                    gangs_.take(), keys_.take(), digests_.take(), steps_.take())[0];
    }

  private:
    SqlArray ids_;
    SqlArray labels_;
    SqlArray names_;
    SqlArray projects_;
    SqlArray types_;
    SqlArray specs_;
    SqlArray owners_;
    SqlArray sources_;
    SqlArray secrets_;
    SqlArray priorities_;
    SqlArray gangs_;
    SqlArray keys_;
    SqlArray digests_;
    SqlArray steps_;
};

/// As they were submitted.
std::string undivided_text(const pqxx::field& steps)
{
    Result<JobSteps> read = parse_stored_steps(to_json_value(steps));
    if (!read) return {};
    JobSteps submitted;
    submitted.may_split = read->may_split;
    submitted.items = std::move(read->items);
    return to_json(submitted).dump();
}

/// As they are kept, with what the placement of the part whose turn it is predicted.
std::string steps_text(const pqxx::row& row, const std::optional<PartRun>& placed)
{
    if (row["steps"].is_null()) return {};
    if (!placed) return row["steps"].as<std::string>();
    Json steps = to_json_value(row["steps"]);
    Json& part = steps["parts"][row["part"].as<std::size_t>()];
    if (part.is_object()) part["placed"] = to_json(*placed);
    return steps.dump();
}

} // namespace

Timestamp insert_jobs(pqxx::transaction_base& transaction, std::span<const std::shared_ptr<const JobRecord>> jobs)
{
    JobColumns columns;
    for (const auto& job : jobs)
        columns.add({job, "", ""});
    return to_timestamp(columns.insert(transaction)["at"]);
}

std::vector<std::optional<Timestamp>> insert_submitted_jobs(pqxx::transaction_base& transaction,
                                                            std::span<const SubmittedJob> jobs)
{
    JobColumns columns;
    for (const SubmittedJob& job : jobs)
        columns.add(job);
    const pqxx::row row = columns.insert(transaction);
    const Timestamp at = to_timestamp(row["at"]);
    const auto ids = Json::parse(row["added"].c_str()).get<std::unordered_set<std::string>>();
    std::vector<std::optional<Timestamp>> moments;
    moments.reserve(jobs.size());
    for (const SubmittedJob& job : jobs)
        moments.push_back(ids.contains(job.job->id.value) ? std::optional(at) : std::nullopt);
    return moments;
}

std::vector<JobRecord> select_jobs_as_submitted(pqxx::work& transaction, const std::vector<std::string>& ids)
{
    std::vector<JobRecord> jobs;
    for (const pqxx::row& row : exec(transaction, kSelectJobsAsSubmitted, sql_array(ids))) {
        JobRecord job; // its state and version are those of a new one
        job.id = {row["id"].as<std::string>()};
        job.label = row["label"].as<std::string>();
        job.name = row["name"].as<std::string>();
        job.project = row["project"].as<std::string>();
        job.job_type = row["job_type"].as<std::string>();
        job.operators_from = row["operators_from"].as<std::string>();
        job.spec = to_json_value(row["spec"]).dump(); // in the order of a new one, without the spaces of jsonb
        if (!row["steps"].is_null()) job.steps = undivided_text(row["steps"]);
        job.submitted_at = job.state_changed_at = to_timestamp(row["submitted_at"]);
        job.submitted_by = row["submitted_by"].as<std::string>();
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::vector<std::string> select_used_projects(pqxx::work& transaction, const std::vector<std::string>& projects)
{
    std::vector<std::string> used;
    for (const pqxx::row& row : transaction.exec_params(kSelectUsedProjects, sql_array(projects)))
        used.push_back(row[0].as<std::string>());
    return used;
}

std::optional<JobRecord> select_job(pqxx::transaction_base& transaction, const JobId& id)
{
    const pqxx::result rows = exec(transaction, kSelectJob, id.value);
    if (rows.empty()) return std::nullopt;
    JobRecord job = to_job_record(rows[0]);
    job.steps = steps_text(rows[0], job.part_predicted);
    if (job.attempt && !rows[0]["a_stderr_end"].is_null()) {
        const pqxx::binarystring end(rows[0]["a_stderr_end"]);
        job.attempt->staged_so_far = find_staged_so_far(end.str());
    }
    return job;
}

std::optional<LockedJob> lock_job(pqxx::work& transaction, const JobId& id)
{
    const pqxx::result rows = transaction.exec_params(kLockJob, id.value);
    if (rows.empty()) return std::nullopt;
    LockedJob job;
    job.label = rows[0]["label"].as<std::string>();
    job.project = rows[0]["project"].as<std::string>();
    job.state = parse_job_state(rows[0]["state"].c_str()).value_or(JobState::kQueued);
    job.version = rows[0]["version"].as<std::int64_t>();
    job.submitted_by = rows[0]["submitted_by"].as<std::string>();
    job.is_cancel_requested = rows[0]["cancel_requested"].as<bool>();
    const pqxx::result attempts = transaction.exec_params(kLockLiveAttempt, id.value);
    if (attempts.empty()) return job;
    job.attempt = AttemptId{attempts[0]["id"].as<std::string>()};
    job.attempt_state = attempts[0]["state"].as<std::string>();
    job.is_attempt_sent = attempts[0]["sent"].as<bool>();
    job.center_id = {attempts[0]["center_id"].as<std::string>()};
    return job;
}

void update_cancel_requested(pqxx::work& transaction, const JobId& id)
{
    transaction.exec_params0(kUpdateCancelRequested, id.value);
}

std::optional<NamedAttempt> select_attempt_of(pqxx::work& transaction, const JobId& job, const std::string& name)
{
    const pqxx::result rows = transaction.exec_params(kSelectAttemptOf, job.value, name);
    if (rows.empty()) return std::nullopt;
    return NamedAttempt{{rows[0]["id"].as<std::string>()}, to_optional_timestamp(rows[0]["output_removed_at"])};
}

std::optional<OutputState> select_output_state(pqxx::work& transaction, const JobId& id, const std::string& stream,
                                               const std::optional<AttemptId>& attempt)
{
    const std::string wanted = attempt ? attempt->value : std::string();
    const pqxx::result rows = transaction.exec_params(kSelectOutputState, id.value, stream, wanted);
    if (rows.empty()) return std::nullopt;
    OutputState state;
    state.submitted_by = rows[0]["submitted_by"].as<std::string>();
    state.is_closed = rows[0]["is_closed"].as<bool>();
    if (!rows[0]["end_bytes"].is_null()) state.end_bytes = rows[0]["end_bytes"].as<std::int64_t>();
    if (!rows[0]["attempt_id"].is_null()) state.attempt = AttemptId{rows[0]["attempt_id"].as<std::string>()};
    return state;
}

std::vector<OutputPiece> select_output(pqxx::work& transaction, const AttemptId& attempt, const std::string& stream,
                                       std::int64_t from_bytes)
{
    std::vector<OutputPiece> pieces;
    constexpr auto kMaxPieceBytes = static_cast<std::int64_t>(link::kMaxOutputBytes);
    for (const pqxx::row& row : exec(transaction, kSelectOutput, attempt.value, stream, from_bytes, kMaxPieceBytes)) {
        const pqxx::binarystring bytes(row["data"]);
        pieces.push_back({row["offset_bytes"].as<std::int64_t>(), bytes.str()});
    }
    return pieces;
}

std::string join_output(const std::vector<OutputPiece>& pieces, bool skips_gaps, std::int64_t& position)
{
    std::string text;
    for (const OutputPiece& piece : pieces) {
        if (piece.offset_bytes > position && !skips_gaps) break;
        const std::int64_t end = piece.offset_bytes + static_cast<std::int64_t>(piece.data.size());
        if (end <= position) continue;
        const std::int64_t skipped = std::max<std::int64_t>(position - piece.offset_bytes, 0);
        text.append(piece.data, static_cast<std::size_t>(skipped));
        position = end;
    }
    return text;
}

std::vector<JobCount> count_open_jobs(pqxx::transaction_base& transaction)
{
    std::vector<JobCount> counts;
    for (const pqxx::row& row : transaction.exec(kCountOpenJobs))
        counts.push_back({row["state"].as<std::string>(), row["count"].as<std::int64_t>()});
    return counts;
}

} // namespace fathom::server
