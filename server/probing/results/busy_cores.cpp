#include "server/probing/results/busy_cores.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// All times are of the centers at one host, so of one clock. Jobs that have ended are found by the ledger, which has an
// index on that; only users' jobs have a row there, but a host has one probe at a time.
constexpr const char* kSelectBusyCores = R"sql(
    WITH own AS MATERIALIZED (
        SELECT a.id, c.host_id, a.started_at, coalesce(a.ended_at, now()) AS ended_at
        FROM attempt a JOIN center c ON c.id = a.center_id
        WHERE a.job_id = $1 ORDER BY a.epoch DESC LIMIT 1),
    others AS (
        SELECT o.unit_type_id, o.unit_count, o.started_at, now() AS ended_at
        FROM own JOIN center h ON h.host_id = own.host_id
             JOIN attempt o ON o.center_id = h.id AND o.state <> 'ended' AND o.id <> own.id
        UNION ALL
        SELECT o.unit_type_id, o.unit_count, o.started_at, o.ended_at
        FROM own JOIN prediction p ON p.ended_at > own.started_at
             JOIN attempt o ON o.id = p.attempt_id AND o.state = 'ended' AND o.id <> own.id
             JOIN center h ON h.id = o.center_id AND h.host_id = own.host_id)
    SELECT coalesce((SELECT sum(u.cores_per_unit * o.unit_count *
                                greatest(extract(epoch FROM least(o.ended_at, own.ended_at) -
                                                            greatest(o.started_at, own.started_at)), 0))
                     FROM others o JOIN unit_type u ON u.id = o.unit_type_id
                     WHERE o.started_at IS NOT NULL AND o.ended_at IS NOT NULL), 0)::float8 /
           extract(epoch FROM own.ended_at - own.started_at)::float8 AS busy_cores
    FROM own WHERE own.host_id IS NOT NULL AND own.ended_at > own.started_at)sql";

} // namespace

std::optional<double> select_busy_cores(pqxx::transaction_base& transaction, const JobId& job)
{
    const pqxx::result rows = transaction.exec_params(kSelectBusyCores, job.value);
    if (rows.empty()) return std::nullopt;
    return rows[0][0].as<double>();
}

} // namespace fathom::server
