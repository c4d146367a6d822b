#include "server/catalog/catalog_networks.hpp"

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
