#pragma once

#include "core/decide/prediction/load_curve.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What tells the load curve of one operator on a unit type (fit_load_curve).
struct OperatorLoads {
    std::string unit_type_id;
    std::string operator_id;
    std::vector<LoadedResult> results; ///< of the last 90 days; none without two loads that differ by half a core
    std::vector<CopyResult> copies;    ///< of the last 90 days, of runs that others' jobs did not disturb
    Timestamp measured_at{};           ///< of the newest
};

struct LoadsFilter {
    std::string unit_types{"{}"}; ///< an array of SQL of ids; "{}": all
    std::string center{};         ///< id or name; empty: all
    std::string unit_type{};      ///< id, or "center/unit_type"; empty: all
    std::string operator_id{};    ///< empty: all
    std::string after_unit_type{};
    std::string after_operator{};
    std::optional<std::int64_t> limit{};
};

// The index measurement_newest has results by unit type and count, copy_measurement_newest copies by operator.
inline constexpr const char* kSelectOperatorLoads = R"sql(
    WITH chosen AS MATERIALIZED (
        SELECT u.id, u.cores_per_unit FROM unit_type u JOIN center c ON c.id = u.center_id
        WHERE ($1::text[] = '{}' OR u.id = ANY ($1::text[])) AND ($2 = '' OR c.id = $2 OR c.name = $2)
          AND ($3 = '' OR u.id = $3 OR c.name || '/' || u.name = $3) AND u.id >= $5),
    results AS (
        SELECT m.unit_type_id, m.operator_id, max(m.measured_at) AS measured_at,
               json_agg(json_build_array(m.parameters_key, m.busy_cores, m.median_s)
                        ORDER BY m.measured_at, m.probe_run_id, m.parameters_key) AS results
        FROM (SELECT m.*, p.busy_cores,
                     row_number() OVER (PARTITION BY m.unit_type_id, m.operator_id
                                        ORDER BY m.measured_at DESC) AS newness
              FROM measurement m JOIN chosen ON chosen.id = m.unit_type_id JOIN probe_run p ON p.id = m.probe_run_id
              WHERE m.void_reason = '' AND m.unit_count = 1 AND m.measured_at > now() - interval '90 days'
                AND p.busy_cores IS NOT NULL AND ($4 = '' OR m.operator_id = $4)
                AND NOT EXISTS (SELECT 1 FROM operator_in_use v
                                WHERE v.id = m.operator_id AND v.version <> m.operator_version)) m
        WHERE m.newness <= 1000
        GROUP BY m.unit_type_id, m.operator_id
        HAVING max(m.busy_cores) - min(m.busy_cores) >= 0.5),
    copies AS (
        SELECT m.unit_type_id, m.operator_id, max(m.measured_at) AS measured_at,
               json_agg(json_build_array(m.probe_run_id, m.copies,
                                         (m.copies - 1) * m.cores_per_unit + m.busy_cores,
                                         coalesce(m.slowdown, m.median_s / m.alone_s), m.slowdown_deviation,
                                         m.beside_bubbles, m.reporter_beside, m.reporter_beside_bubbles)
                        ORDER BY m.measured_at, m.probe_run_id, m.copy, m.parameters_key) AS copies
        FROM (SELECT m.*, chosen.cores_per_unit, coalesce(p.busy_cores, 0) AS busy_cores,
                     row_number() OVER (PARTITION BY m.unit_type_id, m.operator_id
                                        ORDER BY m.measured_at DESC, m.probe_run_id, m.copy) AS newness
              FROM copy_measurement m JOIN chosen ON chosen.id = m.unit_type_id
                   JOIN probe_run p ON p.id = m.probe_run_id
              WHERE m.void_reason = '' AND m.measured_at > now() - interval '90 days'
                AND coalesce(p.busy_cores, 0) < 0.5 AND ($4 = '' OR m.operator_id = $4)
                AND NOT EXISTS (SELECT 1 FROM operator_in_use v
                                WHERE v.id = m.operator_id AND v.version <> m.operator_version)) m
        WHERE m.newness <= 1000
        GROUP BY m.unit_type_id, m.operator_id)
    SELECT unit_type_id, operator_id, coalesce(r.results, '[]') AS results, coalesce(c.copies, '[]') AS copies,
           greatest(r.measured_at, c.measured_at) AS measured_at
    FROM results r FULL JOIN copies c USING (unit_type_id, operator_id)
    WHERE (unit_type_id, operator_id) > ($5, $6)
    ORDER BY unit_type_id, operator_id LIMIT $7)sql";

/// By unit type and operator, those for which anything tells a curve. Results of what another version of the operator
/// did say nothing of this one. Blocks; pqxx's exceptions pass through.
inline std::vector<OperatorLoads> select_operator_loads(pqxx::transaction_base& transaction, const LoadsFilter& filter)
{
    const std::optional<std::string> limit = filter.limit ? std::optional(std::to_string(*filter.limit)) : std::nullopt;
    std::vector<OperatorLoads> found;
    for (const pqxx::row& row : transaction.exec_params(kSelectOperatorLoads, filter.unit_types, filter.center,
                                                        filter.unit_type, filter.operator_id, filter.after_unit_type,
                                                        filter.after_operator, limit ? limit->c_str() : nullptr)) {
        OperatorLoads loads{.unit_type_id = row["unit_type_id"].as<std::string>(),
                            .operator_id = row["operator_id"].as<std::string>(),
                            .results = {},
                            .copies = {},
                            .measured_at = to_timestamp(row["measured_at"])};
        for (const Json& one : to_json_value(row["results"]))
            loads.results.push_back({one[0].get<std::string>(), one[1].get<double>(), one[2].get<double>()});
        for (const Json& one : to_json_value(row["copies"])) {
            CopyResult copy{.run_id = one[0].get<std::string>(),
                            .copies = one[1].get<std::int64_t>(),
                            .busy_cores = one[2].get<double>(),
                            .ratio = one[3].get<double>(),
                            .deviation = one[4].get<double>()};
            if (!one[5].is_null()) // a constraint of the table: all three, or none
                copy.pressure = {one[5].get<double>(), one[6].get<double>(), one[7].get<double>()};
            loads.copies.push_back(std::move(copy));
        }
        found.push_back(std::move(loads));
    }
    return found;
}

} // namespace fathom::server
