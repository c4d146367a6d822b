#include "server/learning/health_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

// An order that was never sent says nothing of its center, and neither do a program and inputs that are not there, a
// submitter for whom it has no local user, a pre-emption, and a job that wanted more memory than it asked for. A
// program that runs may bring about its own loss: in Slurm by cancelling its job, elsewhere where it runs as the same
// user as its supervisor.
constexpr Statement kSelectAttempts{"learning_select_center_attempts", R"sql(
    SELECT c.id, c.name, c.quarantined_at IS NULL AND c.revoked_at IS NULL AS is_judged, p.job_type, p.ended_at,
           (SELECT j.submitted_by FROM job j WHERE j.id = a.job_id) AS submitter, a.unit_type_id,
           coalesce(a.run_s, 0) AS run_s, p.outcome = 'succeeded' AS succeeded,
           p.outcome NOT IN ('succeeded', 'out_of_memory') AS has_failed,
           c.quarantine_lifted_at IS NULL OR p.decided_at > c.quarantine_lifted_at AS counts,
           p.outcome = 'lost' AND a.started_at IS NOT NULL AS was_lost_running,
           (p.outcome = 'lost' AND a.started_at IS NULL) OR p.outcome = 'node_failure'
               OR (p.outcome = 'failed_to_start' AND a.cause = 'none') AS centers_fault
    FROM prediction p JOIN attempt a ON a.id = p.attempt_id JOIN center c ON c.id = a.center_id
    WHERE p.ended_at > now() - $1 * interval '1 second' AND p.outcome NOT IN ('cancelled', 'preempted')
      AND (p.outcome <> 'lost' OR a.dispatched_at IS NOT NULL)
      AND NOT (p.outcome = 'failed_to_start' AND a.cause = 'no_local_user')
    ORDER BY p.ended_at DESC LIMIT 20000)sql"};

// Whoever asked for a probe, it tells as much. One that has waited for an hour may wait for days.
constexpr Statement kSelectQuarantined{"learning_select_quarantined", R"sql(
    SELECT c.id, c.name, c.state = 'online' AND NOT c.drained AS is_reachable, c.quarantined_at,
           EXISTS (SELECT 1 FROM probe_run r WHERE r.center_id = c.id AND r.state = 'queued'
                   AND r.created_at > now() - interval '1 hour') AS has_probe_queued
    FROM center c WHERE c.quarantined_at IS NOT NULL AND c.revoked_at IS NULL ORDER BY c.name)sql"};

constexpr Statement kSelectProbes{"learning_select_probes_since", R"sql(
    SELECT state = 'succeeded' AS is_good, ended_at,
           EXISTS (SELECT 1 FROM attempt a WHERE a.job_id = probe_run.job_id AND a.outcome = 'preempted') AS is_preempted
    FROM probe_run
    WHERE center_id = $1 AND created_at >= $2::timestamptz AND ended_at IS NOT NULL
      AND state IN ('succeeded', 'failed', 'lost')
    ORDER BY ended_at DESC LIMIT 1000)sql"};

constexpr Statement kSelectSuspect{"learning_select_suspect", R"sql(
    SELECT c.state = 'online' AND NOT c.drained AS is_reachable,
           EXISTS (SELECT 1 FROM probe_run r WHERE r.center_id = c.id AND r.state = 'queued' AND r.cause = 'quarantine')
               AS has_probe_queued
    FROM center c WHERE c.id = $1)sql"};

// One that found no units within its hour says nothing of the center: others' jobs may hold them all.
constexpr Statement kSelectSuspectProbes{"learning_select_suspect_probes", R"sql(
    SELECT r.state <> 'succeeded' AS has_failed, r.ended_at,
           r.ended_at > now() - $2 * interval '1 second'
               AND (r.state = 'succeeded' OR (r.state IN ('failed', 'lost') AND EXISTS (
                   SELECT 1 FROM attempt a WHERE a.job_id = r.job_id AND a.dispatched_at IS NOT NULL
                                                 AND a.outcome IS DISTINCT FROM 'preempted'))) AS tells
    FROM probe_run r JOIN center c ON c.id = r.center_id
    WHERE r.center_id = $1 AND r.cause = 'quarantine' AND r.ended_at > now() - interval '1 day'
      AND r.state <> 'queued' AND (c.quarantine_lifted_at IS NULL OR r.created_at > c.quarantine_lifted_at)
    ORDER BY r.ended_at DESC LIMIT 1000)sql"};

constexpr Statement kSelectMeasured{"learning_select_last_measured", R"sql(
    SELECT u.id, max(m.measured_at) AS measured_at
    FROM unit_type u JOIN center c ON c.id = u.center_id JOIN measurement m ON m.unit_type_id = u.id
    WHERE u.active AND c.state = 'online' AND NOT c.drained AND c.revoked_at IS NULL
      AND m.void_reason = '' AND m.operator_id <> 'network_fetch'
    GROUP BY u.id)sql"};

constexpr Statement kRequestDrift{"learning_request_drift", R"sql(
    UPDATE unit_type u SET drift_requested_at = now() FROM center c
    WHERE u.id = $1 AND c.id = u.center_id
      AND (u.drift_requested_at IS NULL
           OR (u.drift_requested_at < $2::timestamptz AND u.drift_requested_at < now() - $3 * interval '1 second'))
    RETURNING c.id AS center_id, c.name AS center, u.name)sql"};

/// Counts how its probes went, newest first.
void add_probes(pqxx::transaction_base& transaction, QuarantinedCenter& center)
{
    const pqxx::result rows = exec(transaction, kSelectProbes, center.id.value, format_rfc3339(center.last_word_at));
    center.probe_count = static_cast<std::int64_t>(rows.size());
    for (const pqxx::row& row : rows) {
        const bool is_good = row["is_good"].as<bool>();
        if (!is_good && row["is_preempted"].as<bool>()) continue;
        if (is_good ? center.bad_probes > 0 : center.good_probes > 0) break;
        ++(is_good ? center.good_probes : center.bad_probes);
    }
    if (!rows.empty()) center.last_word_at = to_timestamp(rows[0]["ended_at"]);
}

} // namespace

std::vector<CenterAttempts> select_center_attempts(pqxx::transaction_base& transaction, std::chrono::seconds window)
{
    std::map<std::string, CenterAttempts> centers;
    std::map<std::string, std::set<std::string>> successes;
    for (const pqxx::row& row : exec(transaction, kSelectAttempts, window.count())) {
        const auto id = row["id"].as<std::string>();
        CenterAttempts& center = centers[id];
        center.id = {id};
        center.name = row["name"].as<std::string>();
        center.is_judged = row["is_judged"].as<bool>();
        EndedAttempt attempt{.ended_at = to_timestamp(row["ended_at"]),
                             .is_centers_fault = row["centers_fault"].as<bool>(),
                             .was_lost_running = row["was_lost_running"].as<bool>(),
                             .run_s = row["run_s"].as<double>(),
                             .has_failed = row["has_failed"].as<bool>(),
                             .job_type = row["job_type"].as<std::string>(),
                             .submitter = row["submitter"].as<std::string>(),
                             .unit_type = row["unit_type_id"].as<std::string>()};
        if (row["succeeded"].as<bool>()) successes[id].insert(attempt.job_type);
        center.submitters.insert(attempt.submitter);
        if (row["counts"].as<bool>()) center.attempts.push_back(std::move(attempt));
    }
    std::vector<CenterAttempts> result;
    for (auto& [id, center] : centers) {
        center.types_that_succeed.assign(successes[id].begin(), successes[id].end());
        result.push_back(std::move(center));
    }
    return result;
}

std::vector<QuarantinedCenter> select_quarantined(pqxx::transaction_base& transaction)
{
    std::vector<QuarantinedCenter> centers;
    for (const pqxx::row& row : exec(transaction, kSelectQuarantined)) {
        QuarantinedCenter center;
        center.id = {row["id"].as<std::string>()};
        center.name = row["name"].as<std::string>();
        center.is_reachable = row["is_reachable"].as<bool>();
        center.has_probe_queued = row["has_probe_queued"].as<bool>();
        center.last_word_at = to_timestamp(row["quarantined_at"]);
        centers.push_back(std::move(center));
    }
    for (QuarantinedCenter& center : centers)
        add_probes(transaction, center);
    return centers;
}

SuspectProbes select_suspect_probes(pqxx::transaction_base& transaction, const CenterId& center,
                                    std::chrono::seconds window)
{
    SuspectProbes probes;
    const pqxx::result center_rows = exec(transaction, kSelectSuspect, center.value);
    probes.is_reachable = center_rows[0]["is_reachable"].as<bool>();
    probes.has_probe_queued = center_rows[0]["has_probe_queued"].as<bool>();
    const pqxx::result ended = exec(transaction, kSelectSuspectProbes, center.value, window.count());
    if (ended.empty()) return probes;
    probes.count = static_cast<std::int64_t>(ended.size());
    probes.last_ended_at = to_timestamp(ended[0]["ended_at"]);
    for (const pqxx::row& row : ended) {
        if (!row["tells"].as<bool>()) continue;
        probes.has_failed = row["has_failed"].as<bool>();
        break;
    }
    return probes;
}

std::map<std::string, Timestamp> select_last_measured(pqxx::transaction_base& transaction)
{
    std::map<std::string, Timestamp> measured;
    for (const pqxx::row& row : exec(transaction, kSelectMeasured))
        measured[row["id"].as<std::string>()] = to_timestamp(row["measured_at"]);
    return measured;
}

std::optional<DriftedUnitType> request_drift_probes(pqxx::transaction_base& transaction, const std::string& unit_type,
                                                    Timestamp measured_at, std::chrono::seconds pause)
{
    const pqxx::result rows = exec(transaction, kRequestDrift, unit_type, format_rfc3339(measured_at), pause.count());
    if (rows.empty()) return std::nullopt;
    return DriftedUnitType{{rows[0]["center_id"].as<std::string>()},
                           rows[0]["center"].as<std::string>(),
                           rows[0]["name"].as<std::string>()};
}

} // namespace fathom::server
