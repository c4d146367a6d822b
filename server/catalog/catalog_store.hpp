#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Reads the catalog, all but its networks. What was computed for `previous` and still holds is taken from there.
/// Blocks; pqxx's exceptions pass through.
CatalogSnapshot select_catalog(pqxx::work& transaction, const CatalogSnapshot& previous);

} // namespace fathom::server
