#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_project_commands(CLI::App& app, Invocation& invocation);
void add_token_commands(CLI::App& app, Invocation& invocation);
void add_user_commands(CLI::App& app, Invocation& invocation);
/// `fathom authority`.
void add_authority_commands(CLI::App& app, Invocation& invocation);
void add_audit_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
