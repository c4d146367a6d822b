#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom corun simulate`: policies for a shared GPU side by side.
void add_corun_simulate_command(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
