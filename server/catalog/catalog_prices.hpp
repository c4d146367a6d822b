#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Reads the price book in force; that of `previous` where it still is. Blocks; pqxx's exceptions pass through.
KnownPrices select_prices(pqxx::work& transaction, const KnownPrices& previous);

/// Gives each unit type of `catalog` its price by the catalog's book; its scores must be there already. What was
/// prepared for `previous` and still holds is taken from there.
void assign_prices(CatalogSnapshot& catalog, const KnownPrices& previous);

/// CatalogSnapshot::spent_projects by this book. Blocks; pqxx's exceptions pass through.
std::map<std::string, std::string, std::less<>> select_spent_projects(pqxx::work& transaction,
                                                                      const KnownPrices& prices);

} // namespace fathom::server
