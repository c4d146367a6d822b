#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Reads what is known of networks (M20). A unit type whose timed transfers are those that `previous` was made of keeps
/// its profile. Blocks; pqxx's exceptions pass through.
KnownNetworks select_networks(pqxx::work& transaction, const KnownNetworks& previous, NetworkCalendar calendar);

/// Sets `network` of the catalog's unit types: their own profile; else that of the unit type of their center with the
/// most transfers, of equals the smallest id.
void assign_networks(CatalogSnapshot& catalog);

/// Reads what was measured of data between nodes, of the catalog's unit types. A center whose results are those that
/// `previous` was made of keeps them. Blocks; pqxx's exceptions pass through.
KnownNodes select_nodes(pqxx::work& transaction, const CatalogSnapshot& catalog, const KnownNodes& previous);

/// Sets `nodes` of the catalog's unit types.
void assign_nodes(CatalogSnapshot& catalog);

} // namespace fathom::server
