#include "server/catalog/catalog_networks.hpp"

#include "server/rows/center_transfers.hpp"
#include "server/rows/timed_transfers.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// From the index measurement_transfers alone. Two results that become one, or one that is found to be false, change it.
constexpr const char* kSelectTransferCounts = R"sql(
    SELECT m.unit_type_id, count(*) AS transfers, max(m.measured_at) AS newest
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id
    WHERE m.operator_id = 'network_fetch' AND m.void_reason = '' AND m.measured_at > now() - interval '8 weeks'
      AND u.active
    GROUP BY m.unit_type_id)sql";

// From the index measurement_of_operator.
constexpr const char* kCountNodeResults = R"sql(
    SELECT u.center_id, count(*) AS results, count(*) FILTER (WHERE u.active) AS of_active, max(m.measured_at) AS newest
    FROM measurement m JOIN unit_type u ON u.id = m.unit_type_id
    WHERE m.operator_id IN ('mpi_bandwidth', 'tcp_allreduce', 'compression', 'decompression') AND m.void_reason = ''
      AND NOT EXISTS (SELECT 1 FROM operator_in_use v WHERE v.id = m.operator_id AND v.version <> m.operator_version)
    GROUP BY u.center_id)sql";

/// Of the centers of `nodes` that are named.
void read_transfers(pqxx::work& transaction, const CatalogSnapshot& catalog, const std::vector<std::string>& centers,
                    KnownNodes& nodes)
{
    std::map<std::string, MeasuredCenter> measured;
    for (const std::string& id : centers)
        measured.emplace(id, MeasuredCenter());
    std::vector<std::string> unit_types;
    for (const UnitTypeView& view : catalog.unit_types) {
        if (measured.contains(view.center_id.value)) unit_types.push_back(view.id.value);
    }
    const auto compressions = select_compressions(transaction, unit_types);
    for (const UnitTypeView& view : catalog.unit_types) {
        const auto found = compressions.find(view.id.value);
        const auto center = measured.find(view.center_id.value);
        if (found == compressions.end() || center == measured.end()) continue;
        CenterUnitType unit_type;
        unit_type.name = view.name;
        unit_type.resource_type = view.resource_type;
        unit_type.compressions = found->second;
        center->second.unit_types.push_back(std::move(unit_type));
    }
    for (const auto& [id, network] : select_node_networks(transaction, centers))
        measured[id].between_hosts = network;
    for (const auto& [id, center] : measured)
        nodes[id].transfers = node_transfers_of(center);
}

} // namespace

KnownNetworks select_networks(pqxx::work& transaction, const KnownNetworks& previous, NetworkCalendar calendar)
{
    KnownNetworks networks;
    for (const pqxx::row& row : transaction.exec(kSelectTransferCounts)) {
        const auto id = row["unit_type_id"].as<std::string>();
        KnownNetwork network{row["transfers"].as<std::int64_t>(), to_timestamp(row["newest"]), nullptr};
        const auto known = previous.find(id);
        const bool is_same = known != previous.end() && known->second.transfers == network.transfers &&
                             known->second.newest == network.newest;
        network.profile =
            is_same ? known->second.profile
                    : std::make_shared<const NetworkProfile>(select_timed_transfers(transaction, id), calendar);
        networks.emplace(id, std::move(network));
    }
    return networks;
}

KnownNodes select_nodes(pqxx::work& transaction, const CatalogSnapshot& catalog, const KnownNodes& previous)
{
    KnownNodes nodes;
    std::vector<std::string> changed;
    for (const pqxx::row& row : transaction.exec(kCountNodeResults)) {
        const auto id = row["center_id"].as<std::string>();
        KnownNodeTransfers found{
            row["results"].as<std::int64_t>(), row["of_active"].as<std::int64_t>(), to_timestamp(row["newest"]), {}};
        const auto known = previous.find(id);
        const bool is_same = known != previous.end() && known->second.results == found.results &&
                             known->second.of_active == found.of_active && known->second.newest == found.newest;
        if (is_same)
            found.transfers = known->second.transfers;
        else
            changed.push_back(id);
        nodes.emplace(id, found);
    }
    if (!changed.empty()) read_transfers(transaction, catalog, changed, nodes);
    return nodes;
}

void assign_nodes(CatalogSnapshot& catalog)
{
    if (catalog.nodes.empty()) return;
    for (UnitTypeView& view : catalog.unit_types) {
        const auto known = catalog.nodes.find(view.center_id.value);
        if (known != catalog.nodes.end()) view.nodes = known->second.transfers;
    }
}

void assign_networks(CatalogSnapshot& catalog)
{
    // Unit types stand in order of id, and so the first of equals is the smallest.
    std::map<std::string, const KnownNetwork*> best_of_center;
    for (UnitTypeView& view : catalog.unit_types) {
        const auto own = catalog.networks.find(view.id.value);
        if (own == catalog.networks.end()) continue;
        view.network = own->second.profile;
        const KnownNetwork*& best = best_of_center[view.center_id.value];
        if (best == nullptr || own->second.transfers > best->transfers) best = &own->second;
    }
    for (UnitTypeView& view : catalog.unit_types) {
        const auto best = best_of_center.find(view.center_id.value);
        if (!view.network && best != best_of_center.end()) view.network = best->second->profile;
    }
}

} // namespace fathom::server
