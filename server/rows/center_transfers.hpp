#pragma once

#include "core/decide/prediction/combine_results.hpp"
#include "core/decide/prediction/speedup_coefficients.hpp"
#include "server/rows/newest_results.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"
#include "server/store/transaction.hpp"

#include <pqxx/pqxx>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What was measured of data that go between a center's nodes, for whoever asks. All block; pqxx's exceptions pass
/// through.
namespace fathom::server {

/// Compressing and expanding the same data, of each size at which both were measured and it is known what the data
/// became; by id of the unit type.
inline std::map<std::string, std::vector<MeasuredCompression>>
select_compressions(pqxx::transaction_base& transaction, const std::vector<std::string>& unit_types)
{
    // What the data became is of the newest compression. Data that do not compress become a little larger; the model's
    // fraction is at most 1.
    constexpr Statement kSelect{"rows_select_compressions", R"sql(
        SELECT n.*, LEAST(f.fraction, 1) AS fraction
        FROM unnest($1::text[]) AS t (id) CROSS JOIN (VALUES ('compression'), ('decompression')) AS way (id)
             CROSS JOIN LATERAL )sql" FATHOM_MEASURED_PLACES("t.id", "way.id") R"sql( p
             CROSS JOIN LATERAL )sql" FATHOM_NEWEST_RESULTS("t.id", "p", "$2::bigint") R"sql( n
             LEFT JOIN LATERAL (
                 SELECT (o -> 'figures' ->> 'compressed_fraction')::float8 AS fraction
                 FROM probe_run r CROSS JOIN LATERAL jsonb_array_elements(r.result -> 'operators') AS o
                 WHERE r.id = n.probe_run_id AND n.newness = 1 AND o ->> 'id' = 'compression'
                   AND n.operator_id = 'compression' AND o -> 'parameters' = COALESCE(n.drawn, n.parameters)
                 LIMIT 1) f ON true
        WHERE p.unit_count = 1
          AND )sql" FATHOM_IS_IN_USE("t.id", "p") R"sql(
        ORDER BY n.unit_type_id, n.operator_id, n.parameters_key, n.newness)sql"};
    std::map<std::string, std::vector<MeasuredCompression>> both_ways;
    if (unit_types.empty()) return both_ways;
    std::map<std::pair<std::string, std::string>, MeasuredCompression> compressions;
    // Compressions come before decompressions.
    const auto add = [&](std::span<const pqxx::row> place) {
        const MeasuredOperator measured = combine_rows(place);
        const auto unit_type = place.front()["unit_type_id"].as<std::string>();
        if (measured.operator_id == "compression") {
            const auto fraction = place.front()["fraction"].as<double>(0);
            if (measured.bytes <= 0 || fraction <= 0) return;
            compressions[{unit_type, measured.parameters_key}] = {.parameters_key = measured.parameters_key,
                                                                  .bytes = measured.bytes,
                                                                  .compression_s = measured.median_s,
                                                                  .decompression_s = 0,
                                                                  .fraction = fraction,
                                                                  .probe_run_id = measured.probe_run_id};
            return;
        }
        const auto found = compressions.find({unit_type, measured.parameters_key});
        if (found == compressions.end()) return;
        both_ways[unit_type].push_back(found->second);
        both_ways[unit_type].back().decompression_s = measured.median_s;
    };
    for_each_place(exec(transaction, kSelect, sql_array(unit_types), kMaxResults), add);
    return both_ways;
}

/// How fast messages go between two hosts of a center or more; by id of the center.
inline std::map<std::string, NodeNetwork> select_node_networks(pqxx::transaction_base& transaction,
                                                               const std::vector<std::string>& centers)
{
    // Of several sizes the nearest to 100 MB, as long messages are the model's. MPI's before what goes without: its
    // bytes are those that a host sends. In a ring of P processes each sends (P - 1) / P of the bytes that
    // tcp_allreduce counts, and so does each host, for neighbours are of one host where they can be.
    constexpr Statement kSelect{"rows_select_node_networks", R"sql(
        SELECT DISTINCT ON (u.center_id) u.center_id, m.operator_id, f.hosts, m.probe_run_id,
               m.bytes / m.median_s * CASE m.operator_id WHEN 'tcp_allreduce' THEN (f.processes - 1) / f.processes
                                                         ELSE 1 END AS rate
        FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id JOIN probe_run r ON r.id = m.probe_run_id
        CROSS JOIN LATERAL (
            SELECT (o -> 'figures' ->> 'hosts')::float8 AS hosts, (o -> 'figures' ->> 'processes')::float8 AS processes
            FROM jsonb_array_elements(r.result -> 'operators') AS o
            WHERE o ->> 'id' = m.operator_id AND o -> 'parameters' = COALESCE(m.drawn, m.parameters) LIMIT 1) f
        WHERE u.center_id = ANY ($1::text[]) AND m.operator_id IN ('mpi_bandwidth', 'tcp_allreduce')
          AND m.void_reason = '' AND m.bytes > 0 AND m.median_s > 0 AND f.hosts BETWEEN 2 AND 1000000
          AND f.processes BETWEEN 2 AND 1000000
          AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
        ORDER BY u.center_id, m.operator_id, abs(ln(m.bytes / 1e8)), m.measured_at DESC, m.probe_run_id)sql"};
    std::map<std::string, NodeNetwork> networks;
    if (centers.empty()) return networks;
    for (const pqxx::row& row : exec(transaction, kSelect, sql_array(centers)))
        networks[row["center_id"].as<std::string>()] =
            NodeNetwork{row["operator_id"].as<std::string>(), row["rate"].as<double>(),
                        static_cast<std::int64_t>(row["hosts"].as<double>()), row["probe_run_id"].as<std::string>()};
    return networks;
}

} // namespace fathom::server
