#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom scaling`.
void add_scaling_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
