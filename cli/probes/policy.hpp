#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom policy`.
void add_policy_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
