#pragma once

#include "core/decide/capacity/network_window.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <string>
#include <vector>

namespace fathom::server {

/// The operator whose probes are transfers over the network.
inline constexpr const char* kFetchOperator = "network_fetch";

/// The transfers that were timed on a unit type (M20) in the last eight weeks, by time; the newest 20 000 at most. Each
/// counts for the middle of the time in which its probe ran, as the agent reported it, though never before the probe
/// was asked for or after its result was stored: a result may arrive late, and a center's clock may be wrong.
/// Blocks; pqxx's exceptions pass through.
inline std::vector<NetworkSample> select_timed_transfers(pqxx::transaction_base& transaction,
                                                         const std::string& unit_type_id)
{
    constexpr const char* kSelect = R"sql(
        SELECT least(greatest(a.started_at + a.run_s / 2 * interval '1 second', r.created_at), m.measured_at) AS at,
               m.bytes / m.median_s AS rate_bytes
        FROM measurement m JOIN probe_run r ON r.id = m.probe_run_id
             LEFT JOIN attempt a ON a.job_id = r.job_id AND a.outcome = 'exited'
        WHERE m.unit_type_id = $1 AND m.operator_id = $2 AND m.void_reason = '' AND m.bytes > 0
          AND m.measured_at > now() - interval '8 weeks'
        ORDER BY m.measured_at DESC LIMIT 20000)sql";
    std::vector<NetworkSample> samples;
    for (const pqxx::row& row : transaction.exec_params(kSelect, unit_type_id, kFetchOperator))
        samples.push_back({to_timestamp(row["at"]), row["rate_bytes"].as<double>()});
    std::sort(samples.begin(), samples.end(), [](const NetworkSample& a, const NetworkSample& b) {
        return a.at != b.at ? a.at < b.at : a.rate_bytes < b.rate_bytes;
    });
    return samples;
}

} // namespace fathom::server
