#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom operator`.
void add_operator_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
