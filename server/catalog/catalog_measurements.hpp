#pragma once

#include "server/catalog/catalog_snapshot.hpp"

#include <pqxx/transaction>

namespace fathom::server {

/// Reads what was measured on the unit types of a catalog (`measured`, `one_core`, `speedups`, `loads`), and of which
/// versions. Unit types of which nothing has changed since the previous catalog was read share its lists: of a large
/// network, all but a few.
/// @param previous  may be empty.
void read_measurements(pqxx::work& transaction, CatalogSnapshot& catalog, const CatalogSnapshot& previous);

} // namespace fathom::server
