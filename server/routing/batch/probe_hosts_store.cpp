#include "server/routing/batch/probe_hosts_store.hpp"

#include "server/rows/live_probes.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <vector>

namespace fathom::server {
namespace {

// Hosts get numbers: what they are called is for nobody who reads a cycle that is kept.
constexpr Statement kSelectProbeHosts{"routing_select_probe_hosts", R"sql(
    WITH wanted AS (SELECT id, host_id FROM center
                    WHERE host_id IS NOT NULL AND (id = ANY ($1::text[]) OR name = ANY ($1::text[]))),
         live AS (SELECT c.host_id, count(*) AS probes FROM )sql" FATHOM_LIVE_PROBES R"sql(
                  WHERE c.host_id IN (SELECT host_id FROM wanted) GROUP BY c.host_id)
    SELECT w.id, dense_rank() OVER (ORDER BY w.host_id) AS host, coalesce(l.probes, 0) AS probes
    FROM wanted w LEFT JOIN live l ON l.host_id = w.host_id)sql"};

} // namespace

ProbeHostsOfCenters select_probe_hosts(pqxx::work& transaction, const std::set<std::string>& centers)
{
    ProbeHostsOfCenters hosts;
    if (centers.empty()) return hosts;
    for (const pqxx::row& row :
         exec(transaction, kSelectProbeHosts, sql_array(std::vector<std::string>(centers.begin(), centers.end()))))
        hosts[row["id"].as<std::string>()] = {.host = row["host"].as<std::int64_t>(),
                                              .probes = row["probes"].as<std::int64_t>()};
    return hosts;
}

} // namespace fathom::server
