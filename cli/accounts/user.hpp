#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom user`.
void add_user_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
