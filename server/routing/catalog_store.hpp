#pragma once

#include "server/routing/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Reads the whole catalog. Blocks; pqxx's exceptions pass through.
CatalogSnapshot select_catalog(pqxx::work& transaction);

} // namespace fathom::server
