#pragma once

#include "server/app/server_settings.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// The names and addresses under which clients may reach this server: localhost, 127.0.0.1, ::1, the host's
/// name, the listen addresses (for a wildcard: every address of this machine) and public_names; each once.
std::vector<std::string> certificate_names(const ServerSettings& settings);

/// The name of this machine; empty when it has none.
std::string host_name();

} // namespace fathom::server
