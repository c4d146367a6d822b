#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// The libpq connection string for a URL (`postgresql://…`) or keyword string, with our defaults for what it
/// leaves open: connect_timeout 5 s, TCP keepalives that notice a lost peer within about 30 s, and
/// application_name fathomd. May hold a password: never log it.
/// @error kInvalid  libpq cannot read it; the detail says why, without the password.
Result<std::string> connection_string(const std::string& url);

/// A connection string in two parts, for programs of PostgreSQL: everybody on the machine may read a command line.
struct ToolConnection {
    std::string text;                          ///< for --dbname; holds no secret
    std::vector<std::string> environment = {}; ///< "PGPASSWORD=…", where there is one
};

/// As connection_string().
/// @error kInvalid  libpq cannot read it, or it has a secret that these programs take from no environment
/// (sslpassword).
Result<ToolConnection> tool_connection(const std::string& url);

/// The same database for people: `url` as it is where it holds no password, else as a keyword string with *** for it.
/// @error kInvalid  libpq cannot read it.
Result<std::string> without_password(const std::string& url);

} // namespace fathom::server
