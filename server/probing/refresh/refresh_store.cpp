#include "server/probing/refresh/refresh_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectAges{"probing_select_figure_ages", R"sql(
    SELECT DISTINCT ON (m.unit_type_id, m.unit_count, m.operator_id, m.parameters_key)
           m.unit_type_id, m.operator_id, m.parameters_key, m.measured_at,
           (m.ci_high_s - m.ci_low_s) / (2 * m.median_s) AS interval
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id
    WHERE u.center_id = $1 AND u.active AND m.unit_count = 1 AND m.void_reason = ''
      AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
    ORDER BY m.unit_type_id, m.unit_count, m.operator_id, m.parameters_key, m.measured_at DESC)sql"};

// The newest jobs only: a share of them says enough, and years of jobs must not be read for it.
constexpr Statement kSelectUses{"probing_select_job_type_uses", R"sql(
    SELECT job_type, sum(run_s) / nullif(sum(sum(run_s)) OVER (), 0) AS share
    FROM (SELECT job_type, run_s, ended_at FROM job WHERE label = 'job' ORDER BY id DESC LIMIT 20000) newest
    WHERE run_s > 0 AND ended_at > now() - interval '30 days'
    GROUP BY job_type ORDER BY sum(run_s) DESC, job_type LIMIT $1)sql"};

constexpr Statement kSelectRequests{"probing_select_requests", R"sql(
    SELECT id, name, probe_requested_at, probe_request_reason FROM center
    WHERE probe_requested_at IS NOT NULL AND state = 'online' AND NOT drained AND revoked_at IS NULL
    ORDER BY probe_requested_at, id)sql"};

constexpr Statement kClearRequest{"probing_clear_request", R"sql(
    UPDATE center SET probe_requested_at = NULL, probe_request_reason = ''
    WHERE id = $1 AND probe_requested_at = $2::timestamptz)sql"};

constexpr Statement kSelectDrifts{"probing_select_drift_requests", R"sql(
    SELECT u.id, u.center_id, u.drift_requested_at FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE u.drift_requested_at > now() - interval '1 day' AND u.active
      AND c.state = 'online' AND NOT c.drained AND c.revoked_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM probe_run r WHERE r.unit_type_id = u.id AND r.cause = 'drift'
                      AND r.created_at >= u.drift_requested_at)
    ORDER BY u.drift_requested_at, u.id)sql"};

constexpr Statement kSelectOpenCenters{"probing_select_open_centers", R"sql(
    SELECT id FROM center WHERE state = 'online' AND NOT drained AND revoked_at IS NULL ORDER BY name)sql"};

constexpr Statement kSelectSpent{"probing_select_spent_by_cause", R"sql(
    SELECT coalesce(sum(CASE WHEN r.state = 'queued' THEN (coalesce(r.document, t.document) ->> 'limit_s')::float8 * r.unit_count
                        ELSE (SELECT coalesce(sum(x.unit_s), 0) FROM probe_use x WHERE x.probe_run_id = r.id) END), 0)
    FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id
    WHERE r.center_id = $1 AND r.created_by = 'fathom' AND r.cause = $2
      AND (r.ended_at IS NULL OR r.ended_at > now() - interval '1 day') AND r.created_at > now() - interval '1 day')sql"};

constexpr Statement kSelectServed{"probing_select_served_unit_types", R"sql(
    SELECT DISTINCT r.unit_type_id FROM probe_run r
    WHERE r.center_id = $1 AND r.created_by = 'fathom' AND r.cause = $2 AND r.mode = $4
      AND (r.ended_at IS NULL OR r.ended_at > least(now() - interval '1 day', coalesce($3::timestamptz, now())))
      AND (r.state = 'queued' OR r.created_at >= $3::timestamptz
           OR $3 IS NULL AND r.state = 'failed' AND r.created_at > now() - interval '1 day'))sql"};

constexpr Statement kSelectCopiesAges{"probing_select_copies_ages", R"sql(
    SELECT m.unit_type_id, m.operator_id, max(m.measured_at) AS measured_at
    FROM copy_measurement m JOIN unit_type u ON u.id = m.unit_type_id
    WHERE u.center_id = $1 AND u.active AND m.void_reason = ''
      AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
    GROUP BY m.unit_type_id, m.operator_id)sql"};

// Two minutes: what a small probe may take.
constexpr Statement kSelectHeld{"probing_select_held_unit_types", R"sql(
    SELECT u.id FROM unit_type u JOIN advance_reservation r ON r.unit_type_id = u.id
    WHERE u.center_id = $1 AND u.active AND r.cancelled_at IS NULL
      AND r.starts_at < now() + interval '2 minutes' AND r.ends_at > now()
    GROUP BY u.id HAVING sum(r.unit_count) >= u.unit_count
    UNION
    SELECT u.id FROM unit_type u JOIN maintenance_window w ON w.center_id = u.center_id
    WHERE u.center_id = $1 AND u.active AND w.cancelled_at IS NULL AND coalesce(w.unit_type_id, u.id) = u.id
      AND w.starts_at < now() + interval '2 minutes' AND w.ends_at > now())sql"};

} // namespace

std::vector<FigureAge> select_figure_ages(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<FigureAge> ages;
    for (const pqxx::row& row : exec(transaction, kSelectAges, center.value))
        ages.push_back({.unit_type_id = row["unit_type_id"].as<std::string>(),
                        .operator_id = row["operator_id"].as<std::string>(),
                        .parameters_key = row["parameters_key"].as<std::string>(),
                        .measured_at = to_timestamp(row["measured_at"]),
                        .interval = row["interval"].as<double>()});
    return ages;
}

CopiesAges select_copies_ages(pqxx::transaction_base& transaction, const CenterId& center)
{
    CopiesAges ages;
    for (const pqxx::row& row : exec(transaction, kSelectCopiesAges, center.value))
        ages[{row["unit_type_id"].as<std::string>(), row["operator_id"].as<std::string>()}] =
            to_timestamp(row["measured_at"]);
    return ages;
}

std::vector<JobTypeUse> select_job_type_uses(pqxx::transaction_base& transaction, std::int64_t limit)
{
    std::vector<JobTypeUse> uses;
    for (const pqxx::row& row : exec(transaction, kSelectUses, limit))
        uses.push_back({row["job_type"].as<std::string>(), row["share"].as<double>(0)});
    return uses;
}

std::vector<ProbeRequest> select_probe_requests(pqxx::transaction_base& transaction)
{
    std::vector<ProbeRequest> requests;
    for (const pqxx::row& row : exec(transaction, kSelectRequests))
        requests.push_back({.center_id = {row["id"].as<std::string>()},
                            .center = row["name"].as<std::string>(),
                            .requested_at = to_timestamp(row["probe_requested_at"]),
                            .reason = row["probe_request_reason"].as<std::string>()});
    return requests;
}

std::vector<DriftRequest> select_drift_requests(pqxx::transaction_base& transaction)
{
    std::vector<DriftRequest> requests;
    for (const pqxx::row& row : exec(transaction, kSelectDrifts))
        requests.push_back({.unit_type_id = {row["id"].as<std::string>()},
                            .center_id = {row["center_id"].as<std::string>()},
                            .requested_at = to_timestamp(row["drift_requested_at"])});
    return requests;
}

void clear_probe_request(pqxx::transaction_base& transaction, const ProbeRequest& request)
{
    exec(transaction, kClearRequest, request.center_id.value, format_rfc3339(request.requested_at));
}

std::vector<CenterId> select_open_centers(pqxx::transaction_base& transaction)
{
    std::vector<CenterId> centers;
    for (const pqxx::row& row : exec(transaction, kSelectOpenCenters))
        centers.push_back({row[0].as<std::string>()});
    return centers;
}

double select_spent_by_cause(pqxx::transaction_base& transaction, const CenterId& center, const std::string& cause)
{
    return exec(transaction, kSelectSpent, center.value, cause)[0][0].as<double>();
}

std::vector<std::string> select_served_unit_types(pqxx::transaction_base& transaction, const CenterId& center,
                                                  const std::string& cause, const std::optional<Timestamp>& since,
                                                  ScalingMode mode)
{
    const std::optional<std::string> from = since ? std::optional(format_rfc3339(*since)) : std::nullopt;
    std::vector<std::string> ids;
    for (const pqxx::row& row :
         exec(transaction, kSelectServed, center.value, cause, from, std::string(to_string(mode))))
        ids.push_back(row[0].as<std::string>());
    return ids;
}

std::vector<std::string> select_held_unit_types(pqxx::transaction_base& transaction, const CenterId& center)
{
    std::vector<std::string> ids;
    for (const pqxx::row& row : exec(transaction, kSelectHeld, center.value))
        ids.push_back(row[0].as<std::string>());
    return ids;
}

} // namespace fathom::server
