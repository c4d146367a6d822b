#include "server/routing/batch/routing_store.hpp"

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/column.hpp"
#include "server/store/index_order.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <map>

namespace fathom::server {
namespace {

// SKIP LOCKED lets replicas route at once without waiting on each other, as do their claims.
constexpr const char* kClaimable = R"sql(
    FROM job
    WHERE state IN ('queued', 'metering') AND cancel_requested_at IS NULL
      AND (state = 'queued' OR metering_until <= now() OR job_type = ANY ($2::text[]))
      AND id NOT IN (SELECT unnest(job_ids) FROM routing_claim WHERE replica <> $3 AND until > now()))sql";
constexpr const char* kByRank = R"sql(
      AND (priority_rank, id) > ($4::float8, $5)
    ORDER BY priority_rank, id LIMIT $1 FOR UPDATE SKIP LOCKED)sql";
// Ids sort by time.
constexpr const char* kOldestFirst = R"sql(
    ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)sql";

// Steps from type to type through the index: thousands of jobs may wait for probes of the same few.
constexpr Statement kSelectMeteringTypes{"routing_select_metering_types", R"sql(
    WITH RECURSIVE step AS (
        (SELECT job_type FROM job WHERE state = 'metering' ORDER BY job_type LIMIT 1)
        UNION ALL
        SELECT (SELECT j.job_type FROM job j WHERE j.state = 'metering' AND j.job_type > step.job_type
                ORDER BY j.job_type LIMIT 1)
        FROM step WHERE step.job_type IS NOT NULL)
    SELECT job_type FROM step WHERE job_type IS NOT NULL)sql"};

constexpr const char* kSelectNextWaiting = R"sql(
    SELECT priority_rank, id FROM job
    WHERE state IN ('queued', 'metering') AND (priority_rank, id) > ($1::float8, $2)
    ORDER BY priority_rank, id LIMIT 1)sql";

constexpr Statement kReplaceClaim{"routing_replace_claim", R"sql(
    INSERT INTO routing_claim (replica, job_ids, until)
    VALUES ($1, $2::text[], clock_timestamp() + $3 * interval '1 second')
    ON CONFLICT (replica) DO UPDATE SET job_ids = excluded.job_ids, until = excluded.until)sql"};

// In order of id, as everywhere; what somebody else holds has changed, or is about to.
constexpr Statement kLockDecided{"routing_lock_decided", R"sql(
    SELECT j.id
    FROM unnest($1::text[], $2::bigint[]) AS n (id, version) JOIN job j ON j.id = n.id
    WHERE j.state = 'queued' AND j.cancel_requested_at IS NULL AND j.version = n.version
    ORDER BY j.id FOR UPDATE OF j SKIP LOCKED)sql"};

constexpr Statement kInsertAttempts{"routing_insert_attempts", R"sql(
    INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, expected_end_at,
                         queued_until, is_exclusive)
    SELECT n.id, n.job_id, coalesce((SELECT max(a.epoch) FROM attempt a WHERE a.job_id = n.job_id), 0) + 1,
           n.center_id, n.unit_type_id, n.unit_count, $7,
           $8::timestamptz + (coalesce(n.queued_s, 0) + n.run_s) * interval '1 second',
           $8::timestamptz + n.queued_s * interval '1 second', n.is_exclusive
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::float8[], $9::float8[], $10::boolean[])
         AS n (id, job_id, center_id, unit_type_id, unit_count, run_s, queued_s, is_exclusive))sql"};

constexpr Statement kInsertPlacements{"routing_insert_placements", R"sql(
    INSERT INTO placement (attempt_id, job_id, decision, inputs, cycle_id)
    SELECT n.attempt_id, n.job_id, n.decision::jsonb, n.inputs::jsonb, nullif($5, '')
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (attempt_id, job_id, decision, inputs))sql"};

constexpr Statement kUpdateToPlaced{"routing_update_to_placed", R"sql(
    UPDATE job SET state = 'placed', version = version + 1, waiting_reason = '',
                   state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = ANY ($1::text[]))sql"};

// Both at once: each update of a row writes all of it, and a place in each index.
constexpr Statement kUpdateWaiting{"routing_update_waiting", R"sql(
    UPDATE job SET priority_rank = coalesce(n.priority_rank, job.priority_rank),
                   waiting_reason = coalesce(n.reason, job.waiting_reason),
                   waiting_reason_at = CASE WHEN n.reason IS NULL THEN job.waiting_reason_at ELSE now() END
    FROM unnest($1::text[], $2::float8[], $3::text[]) AS n (id, priority_rank, reason) WHERE job.id = n.id)sql"};

constexpr const char* kUpdateToMetering = R"sql(
    UPDATE job SET state = 'metering', version = version + 1,
                   state_changed_at = greatest(clock_timestamp(), state_changed_at),
                   metering_until = clock_timestamp() + n.wait_s * interval '1 second',
                   waiting_reason = 'waits for probes of its type'
    FROM unnest($1::text[], $2::bigint[]) AS n (id, wait_s) WHERE job.id = n.id)sql";

constexpr const char* kUpdateToMetered = R"sql(
    UPDATE job SET state = 'queued', metered = true, version = version + 1, waiting_reason = '',
                   state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = ANY ($1::text[]))sql";

constexpr const char* kSelectPlacement = R"sql(
    SELECT j.label, j.state, j.submitted_by, j.project, j.operators_from <> '' AS takes_operators, j.spec::text AS spec,
           to_jsonb(j.refused_centers) AS refused_centers,
           a.id AS attempt_id, p.decided_at, a.decided_by, p.decision::text AS decision, p.inputs::text AS inputs,
           p.cycle_id, coalesce(r.actual_run_s, a.run_s) AS run_s, coalesce(j.steps ->> 'type', j.job_type) AS job_type, j.waiting_reason,
           extract(epoch FROM a.started_at - j.submitted_at)::float8 AS wait_s,
           r.run_s AS predicted_run_s, r.low_s, r.high_s, r.wait_s AS predicted_wait_s, r.wait_low_s, r.wait_high_s,
           r.actual_wait_s, r.cost, r.actual_cost, r.currency,
           CASE WHEN j.state IN ('queued', 'metering')
                THEN (SELECT count(*) FROM (SELECT 1 FROM job o WHERE o.state IN ('queued', 'metering')
                                                                  AND (o.priority_rank, o.id) < (j.priority_rank, j.id)
                                               LIMIT 1000) ahead)
                ELSE 0 END AS jobs_ahead
    FROM job j
    LEFT JOIN LATERAL (SELECT * FROM attempt WHERE job_id = j.id ORDER BY epoch DESC LIMIT 1) a ON true
    LEFT JOIN placement p ON p.attempt_id = a.id
    LEFT JOIN prediction r ON r.attempt_id = a.id
    WHERE j.id = $1)sql";

/// Longer predictions are as good as endless, and must not overflow a timestamp.
constexpr double kMaxRunSeconds = 1e8;

/// Of a row with the column `refused_centers`.
std::vector<std::string> refused_centers_of(const pqxx::row& row)
{
    const pqxx::field centers = row["refused_centers"];
    if (centers.is_null()) return {};
    return to_json_value(centers).get<std::vector<std::string>>();
}

std::vector<WaitingJob> to_waiting_jobs(const pqxx::result& rows, KnownSpecs& specs)
{
    std::vector<WaitingJob> jobs;
    for (const pqxx::row& row : rows)
        jobs.push_back(to_waiting_job(row, specs));
    return jobs;
}

} // namespace

// The router need not carry about what runs, nor where its data are: of thousands of jobs at once that would be
// gigabytes. A command stands for the program, and one input for all, with their bytes; of files that are fetched,
// those count of which centers may keep copies.
const char* const kWaitingJobColumns = R"sql(
    SELECT id, version, label, coalesce(steps ->> 'type', job_type) AS job_type, submitted_by, operators_from <> '' AS takes_operators, state, metered, coalesce(steps @> '{"split": "allowed", "division": null}', false) AS may_divide, coalesce(jsonb_array_length(steps -> 'parts') > 0, false) AS is_part, coalesce(metering_until <= now(), false) AS metering_over,
           waiting_reason, coalesce(extract(epoch FROM now() - waiting_reason_at), 0)::float8 AS reason_s,
           submitted_at, priority_rank, to_jsonb(refused_centers) AS refused_centers,
           jsonb_build_object('command', '["-"]'::jsonb, 'operators', spec -> 'operators', 'units', spec -> 'units',
                              'metering_wait_s', spec -> 'metering_wait_s', 'wall_limit_s', spec -> 'wall_limit_s',
                              'data', CASE WHEN spec #> '{data,in,0}' IS NULL THEN spec -> 'data' ELSE jsonb_build_object(
                                  'in', jsonb_build_array(jsonb_build_object('bytes', (
                                      SELECT least(coalesce(sum(bytes::numeric), 0), 1e18)
                                      FROM jsonb_path_query(spec, 'lax $.data.in[*].bytes ? (@.type() == "number")') AS bytes))),
                                  'out_bytes', spec -> 'data' -> 'out_bytes', 'sites', spec -> 'data' -> 'sites',
                                  'compressed', spec -> 'data' -> 'compressed') END,
                              'inputs', CASE WHEN spec ? 'inputs' THEN (
                                  SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                                      'from', i -> 'from', 'path', i -> 'path', 'size_bytes', i -> 'size_bytes',
                                      'kept_at', i -> 'kept_at')))
                                  FROM jsonb_path_query(spec, 'lax $.inputs[*] ? (exists(@.from))') AS i) END,
                              'network', spec -> 'network', 'deadline', spec -> 'deadline',
                              'modules', CASE WHEN spec ? 'modules' THEN '["any"]'::jsonb END,
                              'container', CASE WHEN spec ? 'container' THEN '{"image": "any"}'::jsonb END,
                              'project', spec -> 'project', 'prefer', spec -> 'prefer', 'budget', spec -> 'budget',
                              'priority', spec -> 'priority', 'gang', spec -> 'gang')::text AS spec)sql";

WaitingJob to_waiting_job(const pqxx::row& row, KnownSpecs& specs)
{
    WaitingJob job;
    job.id = {row["id"].as<std::string>()};
    job.version = row["version"].as<std::int64_t>();
    job.label = row["label"].as<std::string>();
    job.job_type = row["job_type"].as<std::string>();
    job.submitter = row["submitted_by"].as<std::string>();
    job.takes_operators = row["takes_operators"].as<bool>();
    job.state = parse_job_state(row["state"].c_str()).value_or(JobState::kQueued);
    job.is_metered = row["metered"].as<bool>();
    job.may_divide = row["may_divide"].as<bool>();
    job.is_part = row["is_part"].as<bool>();
    job.is_metering_over = row["metering_over"].as<bool>();
    job.waiting_reason = row["waiting_reason"].as<std::string>();
    job.reason_s = row["reason_s"].as<double>();
    job.submitted_at = to_timestamp(row["submitted_at"]);
    job.priority_rank = row["priority_rank"].as<double>();
    job.refused_by = refused_centers_of(row);
    job.known = specs.get(row["spec"].c_str());
    job.spec = job.known->spec;
    job.spec.type = job.job_type;
    return job;
}

std::vector<std::string> select_metering_types(pqxx::work& transaction)
{
    std::vector<std::string> types;
    for (const pqxx::row& row : exec(transaction, kSelectMeteringTypes))
        types.push_back(row[0].as<std::string>());
    return types;
}

std::string spec_kind_of(const JobSpec& spec, const CatalogSnapshot& catalog)
{
    JobSpec alike = spec;
    alike.priority = 0;
    alike.gang = {};
    // Where nothing else is known of its run, the time that is asked for tells it.
    const std::int64_t asked = spec.operators.empty() ? asked_limit_s(spec) : 0;
    alike.wall_limit_s = catalog.least_wall_limit(spec.wall_limit_s);
    return std::to_string(asked) + '\n' + to_json(alike).dump();
}

std::string kind_of(const WaitingJob& job, const std::string& spec_kind)
{
    std::string kind = job.label + '\n' + job.submitter + '\n' + job.job_type + (job.takes_operators ? "\n<\n" : "\n");
    for (const std::string& center : job.refused_by)
        kind += '-' + center + '\n';
    return kind + spec_kind;
}

std::vector<WaitingJob> claim_waiting_jobs(pqxx::work& transaction, const ClaimRange& range, KnownSpecs& specs)
{
    static const std::string sql = std::string(kWaitingJobColumns) + kClaimable + kByRank;
    const Statement claim{"routing_claim_jobs_by_rank", sql.c_str()};
    prefer_index_order(transaction);
    const pqxx::result rows = exec(transaction, claim, range.limit, sql_array(range.claim.metered_types),
                                   range.claim.replica, range.after.priority_rank, range.after.id);
    prefer_any_plan(transaction);
    return to_waiting_jobs(rows, specs);
}

std::vector<WaitingJob> claim_oldest_jobs(pqxx::work& transaction, std::int64_t limit, const ClaimTerms& terms,
                                          KnownSpecs& specs)
{
    static const std::string sql = std::string(kWaitingJobColumns) + kClaimable + kOldestFirst;
    const Statement claim{"routing_claim_oldest_jobs", sql.c_str()};
    prefer_index_order(transaction);
    const pqxx::result rows = exec(transaction, claim, limit, sql_array(terms.metered_types), terms.replica);
    prefer_any_plan(transaction);
    return to_waiting_jobs(rows, specs);
}

void replace_routing_claim(pqxx::work& transaction, const std::string& replica, const std::vector<std::string>& jobs,
                           std::chrono::seconds lifetime)
{
    exec(transaction, kReplaceClaim, replica, sql_array(jobs), lifetime.count());
}

std::set<std::string> lock_decided_jobs(pqxx::work& transaction, const std::vector<DecidedJob>& jobs)
{
    SqlArray ids;
    SqlArray versions;
    for (const DecidedJob& job : jobs) {
        ids.add(job.id.value);
        versions.add(job.version);
    }
    std::set<std::string> locked;
    for (const pqxx::row& row : exec(transaction, kLockDecided, ids.take(), versions.take()))
        locked.insert(row["id"].as<std::string>());
    return locked;
}

std::optional<LinePlace> select_next_waiting(pqxx::work& transaction, const LinePlace& after)
{
    const pqxx::result rows = transaction.exec_params(kSelectNextWaiting, after.priority_rank, after.id);
    if (rows.empty()) return std::nullopt;
    return LinePlace{rows[0]["priority_rank"].as<double>(), rows[0]["id"].as<std::string>()};
}

void insert_attempts(pqxx::work& transaction, const std::vector<NewAttempt>& attempts, const DecisionOrigin& origin,
                     Timestamp start)
{
    if (attempts.empty()) return;
    SqlArray ids;
    SqlArray centers;
    SqlArray unit_types;
    SqlArray unit_counts;
    SqlArray run_times;
    SqlArray queue_times;
    SqlArray exclusives;
    SqlArray decisions;
    SqlArray inputs;
    std::vector<std::string> job_ids;
    for (const NewAttempt& attempt : attempts) {
        ids.add(attempt.id.value);
        job_ids.push_back(attempt.job_id.value);
        centers.add(attempt.center_id.value);
        unit_types.add(attempt.unit_type_id.value);
        unit_counts.add(attempt.unit_count);
        exclusives.add(std::string_view(attempt.is_exclusive ? "true" : "false"));
        if (attempt.run_s)
            run_times.add(std::min(*attempt.run_s, kMaxRunSeconds));
        else
            run_times.add_null();
        if (attempt.queued_s)
            queue_times.add(*attempt.queued_s);
        else
            queue_times.add_null();
        decisions.add(attempt.decision);
        if (attempt.inputs.empty())
            inputs.add_null();
        else
            inputs.add(attempt.inputs);
    }
    const std::string id_array = ids.take();
    const std::string job_array = sql_array(job_ids);
    exec(transaction, kInsertAttempts, id_array, job_array, centers.take(), unit_types.take(), unit_counts.take(),
         run_times.take(), origin.replica, format_rfc3339(start), queue_times.take(), exclusives.take());
    exec(transaction, kInsertPlacements, id_array, job_array, decisions.take(), inputs.take(), origin.cycle);
    exec(transaction, kUpdateToPlaced, job_array);
}

void update_waiting(pqxx::work& transaction, const std::vector<WaitingReason>& reasons,
                    const std::vector<NewRank>& ranks)
{
    std::map<std::string_view, std::pair<std::optional<double>, std::optional<std::string>>> jobs;
    for (const NewRank& one : ranks)
        jobs[one.id.value].first = one.priority_rank;
    for (const WaitingReason& one : reasons)
        jobs[one.id.value].second = one.reason;
    if (jobs.empty()) return;
    SqlArray ids;
    SqlArray values;
    std::vector<std::optional<std::string>> texts;
    for (auto& [id, change] : jobs) {
        ids.add(id);
        if (change.first)
            values.add(*change.first);
        else
            values.add_null();
        texts.push_back(std::move(change.second));
    }
    exec(transaction, kUpdateWaiting, ids.take(), values.take(), sql_array(texts));
}

void update_to_metering(pqxx::work& transaction, const std::vector<MeteringStart>& jobs)
{
    if (jobs.empty()) return;
    SqlArray ids;
    SqlArray waits;
    for (const MeteringStart& job : jobs) {
        ids.add(job.id.value);
        waits.add(job.wait_s);
    }
    transaction.exec_params0(kUpdateToMetering, ids.take(), waits.take());
}

void update_to_metered(pqxx::work& transaction, const std::vector<std::string>& ids)
{
    if (!ids.empty()) transaction.exec_params0(kUpdateToMetered, sql_array(ids));
}

std::optional<PlacementRecord> select_placement(pqxx::work& transaction, const JobId& id)
{
    const pqxx::result rows = transaction.exec_params(kSelectPlacement, id.value);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    PlacementRecord record;
    record.job_id = id;
    record.label = row["label"].as<std::string>();
    record.state = row["state"].as<std::string>();
    record.submitted_by = row["submitted_by"].as<std::string>();
    record.project = row["project"].as<std::string>();
    record.takes_operators = row["takes_operators"].as<bool>();
    record.refused_by = refused_centers_of(row);
    record.spec = row["spec"].as<std::string>();
    record.attempt_id = optional_of<std::string>(row["attempt_id"]);
    record.decided_at = to_optional_timestamp(row["decided_at"]);
    record.decided_by = row["decided_by"].as<std::string>("");
    record.decision = row["decision"].as<std::string>("");
    record.inputs = row["inputs"].as<std::string>("");
    record.cycle = row["cycle_id"].as<std::string>("");
    record.job_type = row["job_type"].as<std::string>();
    record.waiting_reason = row["waiting_reason"].as<std::string>();
    record.jobs_ahead = row["jobs_ahead"].as<std::int64_t>();
    record.predicted_run_s = optional_of<double>(row["predicted_run_s"]);
    record.low_s = optional_of<double>(row["low_s"]);
    record.high_s = optional_of<double>(row["high_s"]);
    record.predicted_wait_s = optional_of<double>(row["predicted_wait_s"]);
    record.wait_low_s = optional_of<double>(row["wait_low_s"]);
    record.wait_high_s = optional_of<double>(row["wait_high_s"]);
    record.actual_wait_s = optional_of<double>(row["actual_wait_s"]);
    record.cost = optional_of<double>(row["cost"]);
    record.actual_cost = optional_of<double>(row["actual_cost"]);
    record.currency = row["currency"].as<std::string>("");
    record.run_s = optional_of<double>(row["run_s"]);
    record.wait_s = optional_of<double>(row["wait_s"]);
    return record;
}

} // namespace fathom::server
