#pragma once

#include "core/base/result.hpp"

#include <string>

namespace fathom::server {

/// The libpq connection string for a URL (`postgresql://…`) or keyword string, with our defaults for what it
/// leaves open: connect_timeout 5 s, TCP keepalives that notice a lost peer within about 30 s, and
/// application_name fathomd. May hold a password: never log it.
/// @error kInvalid  libpq cannot read it; the detail says why, without the password.
Result<std::string> connection_string(const std::string& url);

} // namespace fathom::server
