#include "server/billing/usage_metering_store.hpp"

#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kLockMetering{"billing_lock_metering", "SELECT pg_advisory_xact_lock(7233018)"};

constexpr Statement kSelectUnitTypes{"billing_select_unit_types", R"sql(
    SELECT DISTINCT unit_type_id FROM (
        SELECT unit_type_id FROM attempt WHERE state = 'ended' AND NOT metered ORDER BY id LIMIT $1) due)sql"};

constexpr Statement kInsertEvidence{"billing_insert_evidence", R"sql(
    INSERT INTO score_evidence (id, unit_type_id, score_milli, document)
    SELECT id, unit_type_id, score_milli, document::jsonb
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS e (id, unit_type_id, score_milli, document)
    ON CONFLICT (id) DO NOTHING)sql"};

// Times are by our own clock: what ran before its order was made, or longer than until we heard of its end, did not.
// How long it held its units is what its center says, which is bounded by our clock when it is reported; of what was
// lost nobody says it, so that is the time until it was given up, at most its wall limit. An order that our clock has
// made after it was closed says that the clock has gone back: then it bounds nothing.
#define FATHOM_USAGE_SPAN                                                                                              \
    "CROSS JOIN LATERAL (SELECT least(greatest(a.ended_at, a.dispatched_at, a.created_at), a.closed_at) AS until_at) " \
    "t "                                                                                                               \
    "CROSS JOIN LATERAL (SELECT CASE WHEN a.started_at IS NULL THEN 0 "                                                \
    "    WHEN a.outcome = 'lost' THEN greatest(0, least(extract(epoch FROM t.until_at - greatest(a.started_at, "       \
    "         a.created_at))::float8, (j.spec ->> 'wall_limit_s')::float8)) "                                          \
    "    ELSE greatest(coalesce(a.run_s, 0), 0) END AS used_s) s "

constexpr Statement kMeterAttempts{"billing_meter_attempts", R"sql(
    WITH known AS (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::float8[])
            AS k (unit_type_id, score_milli, evidence_id, power_w)),
    due AS (
        SELECT id FROM attempt
        WHERE state = 'ended' AND NOT metered AND unit_type_id = ANY ($1::text[])
        ORDER BY id LIMIT $5 FOR UPDATE),
    marked AS (
        UPDATE attempt a SET metered = true FROM due WHERE a.id = due.id RETURNING a.*),
    metered AS (
        INSERT INTO usage_record (source, kind, payer, project, submitted_by, job_id, job_name, job_type, attempt_id,
            probe_run_id, center_id, center, unit_type_id, unit_type, resource_type, unit_count, units, cores_per_unit,
            submitted_at, from_at, until_at, outcome, exit_code, cpu_us, max_resident_bytes, moved_bytes, energy_j,
            score_milli, evidence_id)
        SELECT a.id, 'compute',
               CASE WHEN j.label = 'probe' THEN 'network'
                    WHEN a.outcome IN ('lost', 'node_failure', 'preempted') THEN 'nobody' ELSE 'project' END,
               j.project, j.submitted_by, j.id, j.name, j.job_type, a.id, coalesce(r.id, ''), c.id, c.name, u.id,
               u.name, u.resource_type, a.unit_count, a.units, u.cores_per_unit, j.submitted_at,
               greatest(t.until_at - make_interval(secs => s.used_s),
                        CASE WHEN a.created_at <= t.until_at THEN a.created_at END), t.until_at, a.outcome,
               a.exit_code, round(least(1e18::float8, greatest(coalesce(a.cpu_s, 0), 0) * 1e6))::bigint, coalesce(a.max_resident_bytes, 0),
               CASE WHEN a.started_at IS NULL OR j.label = 'probe' THEN 0 ELSE least(1e18::float8, (
                   SELECT coalesce(sum((i ->> 'bytes')::float8), 0)
                   FROM jsonb_array_elements(coalesce(j.spec #> '{data,in}', '[]')) i)
                   + CASE WHEN a.outcome = 'exited' AND a.exit_code = 0
                          THEN coalesce((j.spec #>> '{data,out_bytes}')::float8, 0) ELSE 0 END) END::bigint,
               round(least(1e18::float8, k.power_w * a.unit_count * s.used_s))::bigint, k.score_milli, nullif(k.evidence_id, '')
        FROM marked a JOIN job j ON j.id = a.job_id JOIN unit_type u ON u.id = a.unit_type_id
             JOIN center c ON c.id = a.center_id JOIN known k ON k.unit_type_id = a.unit_type_id
             LEFT JOIN probe_run r ON r.job_id = j.id )sql" FATHOM_USAGE_SPAN R"sql(
        ORDER BY t.until_at, a.id
        RETURNING 1)
    SELECT count(*) FROM metered)sql"};

// The time that it really took, within what we know; who pays stays as it was.
constexpr Statement kMeterLateEnds{"billing_meter_late_ends", R"sql(
    WITH due AS (
        UPDATE late_end l SET metered = true
        WHERE NOT metered AND EXISTS (SELECT 1 FROM usage_record u WHERE u.source = l.attempt_id) RETURNING l.*),
    corrected AS (
        INSERT INTO usage_record (source, revision, kind, payer, project, submitted_by, job_id, job_name, job_type,
            attempt_id, probe_run_id, center_id, center, unit_type_id, unit_type, resource_type, unit_count, units,
            cores_per_unit, submitted_at, from_at, until_at, outcome, exit_code, cpu_us, max_resident_bytes,
            moved_bytes, energy_j, score_milli, evidence_id)
        SELECT u.source, u.revision + 1, u.kind, u.payer, u.project, u.submitted_by, u.job_id, u.job_name, u.job_type,
            u.attempt_id, u.probe_run_id, u.center_id, u.center, u.unit_type_id, u.unit_type, u.resource_type,
            u.unit_count, u.units, u.cores_per_unit, u.submitted_at,
            greatest(t.until_at - make_interval(secs => l.run_s),
                     CASE WHEN a.created_at <= t.until_at THEN a.created_at END), t.until_at, l.outcome,
            l.exit_code, round(least(1e18::float8, greatest(l.cpu_s, 0) * 1e6))::bigint, l.max_resident_bytes, u.moved_bytes, u.energy_j,
            u.score_milli, u.evidence_id
        FROM due l JOIN attempt a ON a.id = l.attempt_id
             CROSS JOIN LATERAL (SELECT * FROM usage_record u WHERE u.source = l.attempt_id
                                 ORDER BY revision DESC LIMIT 1) u
             CROSS JOIN LATERAL (SELECT least(greatest(l.ended_at, a.dispatched_at, a.created_at), l.reported_at)
                                        AS until_at) t
        RETURNING 1)
    SELECT count(*) FROM corrected)sql"};

// Looked at once an hour: what a project has stored then, it is taken to have had stored since the last look.
constexpr Statement kMeterStorage{"billing_meter_storage", R"sql(
    WITH now_is AS (SELECT date_trunc('hour', now(), 'UTC') AS until_at),
    last AS (SELECT h.storage_until AS from_at FROM ledger_head h, now_is WHERE h.storage_until < now_is.until_at FOR UPDATE OF h),
    moved AS (UPDATE ledger_head SET storage_until = now_is.until_at FROM now_is, last),
    held AS (
        SELECT project, sum(bytes)::bigint AS bytes
        FROM (SELECT project, bytes FROM stored_use UNION ALL SELECT project, bytes FROM stored_change) s
        GROUP BY project HAVING sum(bytes) > 0),
    metered AS (
        INSERT INTO usage_record (source, kind, payer, project, from_at, until_at, stored_bytes)
        SELECT 'storage/' || project || '/' || to_char(last.from_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), 'storage',
               'project', project, last.from_at, now_is.until_at, bytes
        FROM held, last, now_is ORDER BY project
        RETURNING 1)
    SELECT count(*) FROM metered)sql"};

// A while after its end, when every start in it is known. What its project ran on these units in its time, up to what
// was reserved, was not idle: added up between the moments at which the number of units changed.
constexpr Statement kMeterReservations{"billing_meter_reservations", R"sql(
    WITH due AS (
        UPDATE advance_reservation SET metered = true
        WHERE NOT metered AND (ends_at < now() - interval '10 minutes'
                               OR (cancelled_at IS NOT NULL AND cancelled_at < now() - interval '10 minutes'))
        RETURNING id, project, center_id, unit_type_id, unit_count, starts_at, least(ends_at, cancelled_at) AS ends_at,
                  created_by),
    held AS (
        SELECT d.id, greatest(a.started_at, d.starts_at) AS from_at,
               least(coalesce(a.ended_at, d.ends_at), d.ends_at) AS until_at, a.unit_count
        FROM due d JOIN attempt a ON a.unit_type_id = d.unit_type_id JOIN job j ON j.id = a.job_id
        WHERE j.project = d.project AND a.started_at < d.ends_at
          AND coalesce(a.ended_at, d.ends_at) > d.starts_at),
    steps AS (
        SELECT id, at, sum(change) AS change FROM (
            SELECT id, from_at AS at, unit_count AS change FROM held
            UNION ALL SELECT id, until_at, -unit_count FROM held
            UNION ALL SELECT id, starts_at, 0 FROM due
            UNION ALL SELECT id, ends_at, 0 FROM due) s GROUP BY id, at),
    levels AS (
        SELECT id, at, sum(change) OVER (PARTITION BY id ORDER BY at) AS units,
               lead(at) OVER (PARTITION BY id ORDER BY at) AS next_at FROM steps),
    idle AS (
        SELECT d.id, coalesce(sum(greatest(d.unit_count - l.units, 0)
                                  * round(extract(epoch FROM l.next_at - l.at) * 1e6)), 0)::bigint AS unit_us
        FROM due d JOIN levels l ON l.id = d.id AND l.next_at IS NOT NULL GROUP BY d.id),
    metered AS (
        INSERT INTO usage_record (source, kind, payer, project, submitted_by, center_id, center, unit_type_id,
            unit_type, resource_type, unit_count, cores_per_unit, from_at, until_at, idle_unit_us)
        SELECT 'reservation/' || d.id, 'reservation', 'project', d.project, d.created_by, c.id, c.name, u.id, u.name,
               u.resource_type, d.unit_count, u.cores_per_unit, d.starts_at, d.ends_at, i.unit_us
        FROM due d JOIN idle i ON i.id = d.id JOIN center c ON c.id = d.center_id
             JOIN unit_type u ON u.id = d.unit_type_id
        WHERE d.ends_at > d.starts_at ORDER BY d.ends_at, d.id
        RETURNING 1)
    SELECT count(*) FROM metered)sql"};

constexpr Statement kSelectLastEvidence{"billing_select_last_evidence", R"sql(
    SELECT id, score_milli FROM score_evidence WHERE unit_type_id = $1 ORDER BY recorded_at DESC LIMIT 1)sql"};

} // namespace

void lock_metering(pqxx::work& transaction)
{
    exec(transaction, kLockMetering);
}

std::vector<std::string> select_unmetered_unit_types(pqxx::work& transaction, std::int64_t most_attempts)
{
    std::vector<std::string> ids;
    for (const pqxx::row& row : exec(transaction, kSelectUnitTypes, most_attempts))
        ids.push_back(row[0].as<std::string>());
    return ids;
}

void insert_evidence(pqxx::work& transaction, const std::vector<MeteredUnitType>& unit_types)
{
    SqlArray ids;
    SqlArray types;
    SqlArray scores;
    SqlArray documents;
    for (const MeteredUnitType& one : unit_types) {
        if (one.evidence.empty()) continue;
        ids.add(one.evidence_id);
        types.add(one.unit_type_id);
        scores.add(one.score_milli);
        documents.add(one.evidence);
    }
    exec(transaction, kInsertEvidence, ids.take(), types.take(), scores.take(), documents.take());
}

std::optional<MeteredUnitType> select_last_evidence(pqxx::work& transaction, const std::string& unit_type_id)
{
    const pqxx::result rows = exec(transaction, kSelectLastEvidence, unit_type_id);
    if (rows.empty()) return std::nullopt;
    MeteredUnitType last;
    last.unit_type_id = unit_type_id;
    last.evidence_id = rows[0]["id"].as<std::string>();
    last.score_milli = rows[0]["score_milli"].as<std::int64_t>();
    return last;
}

std::int64_t meter_attempts(pqxx::work& transaction, const std::vector<MeteredUnitType>& unit_types,
                            std::int64_t most_attempts)
{
    if (unit_types.empty()) return 0;
    SqlArray types;
    SqlArray scores;
    SqlArray evidence;
    SqlArray powers;
    for (const MeteredUnitType& one : unit_types) {
        types.add(one.unit_type_id);
        scores.add(one.score_milli);
        evidence.add(one.evidence_id);
        powers.add(one.power_w);
    }
    return exec(transaction, kMeterAttempts, types.take(), scores.take(), evidence.take(), powers.take(),
                most_attempts)[0][0]
        .as<std::int64_t>();
}

std::int64_t meter_late_ends(pqxx::work& transaction)
{
    return exec(transaction, kMeterLateEnds)[0][0].as<std::int64_t>();
}

std::int64_t meter_storage(pqxx::work& transaction)
{
    return exec(transaction, kMeterStorage)[0][0].as<std::int64_t>();
}

std::int64_t meter_reservations(pqxx::work& transaction)
{
    return exec(transaction, kMeterReservations)[0][0].as<std::int64_t>();
}

} // namespace fathom::server
