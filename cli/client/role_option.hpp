#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace fathom::cli {

/// --role of what gives rights to somebody.
inline CLI::Option* add_role_option(CLI::App& verb, std::string& role)
{
    return verb
        .add_option(
            "--role", role,
            "user: own jobs; viewer: reads; expert: measures; operator: runs the network; billing; auditor; admin")
        ->check(CLI::IsMember({"viewer", "user", "expert", "operator", "billing", "auditor", "admin"}));
}

} // namespace fathom::cli
