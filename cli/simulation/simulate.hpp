#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom simulate`: computed here, without a server.
void add_simulate_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
