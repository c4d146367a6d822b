#pragma once

#include "server/app/server_settings.hpp"

namespace fathom::server {

/// Runs fathomd until SIGTERM or SIGINT; one that comes more than a second later ends it at once.
/// @return the exit code: 0 after a clean stop, 1 when it could not start (one line on standard error says why).
int run_server(const ServerSettings& settings);

} // namespace fathom::server
