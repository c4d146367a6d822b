#pragma once

#include "core/net/server.hpp"
#include "server/app/server_settings.hpp"

namespace fathom::server {

/// The limits of the two listeners.
struct ListenerLimits {
    net::ServerLimits rest;
    net::ServerLimits agents; ///< half of its places are for agents with a certificate
};

/// @param descriptors  files that the process may have open: some are left to the database, logs and children, and the
///                     listeners share the rest, agents two thirds of it, so that neither can take those of the other.
ListenerLimits listener_limits(const ServerSettings& settings, std::size_t descriptors);

} // namespace fathom::server
