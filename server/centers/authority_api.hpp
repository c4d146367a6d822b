#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/authority.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// The routes by which administrators see and replace the network's authority. Each step is written down in the audit
/// log and told to all replicas ("authority").
/// @param file  of which the next authority's key is encrypted.
void add_authority_routes(ApiRouter& router, Database& database, AuthorityKeyFile file);

} // namespace fathom::server
