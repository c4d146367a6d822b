#pragma once

#include "server/routing/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Reads the price book in force, and gives each unit type of `catalog` its price. What was prepared for `previous` and
/// still holds is taken from there. Blocks; pqxx's exceptions pass through.
KnownPrices select_prices(pqxx::work& transaction, const KnownPrices& previous, CatalogSnapshot& catalog);

} // namespace fathom::server
