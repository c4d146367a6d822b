#pragma once

#include "core/net/tls.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// The network's certificate authority: read from the database, or made there by the first replica that
/// asks. All replicas get the same one. Blocks.
Result<net::Credential> load_authority(Database& database);

} // namespace fathom::server
