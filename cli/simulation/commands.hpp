#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

/// `fathom corun`: computed here, without a server.
void add_corun_commands(CLI::App& app, Invocation& invocation);
/// `fathom simulate`: computed here, without a server.
void add_simulate_commands(CLI::App& app, Invocation& invocation);
/// `fathom simulate export`
void add_simulate_export(CLI::App& simulate, Invocation& invocation);

} // namespace fathom::cli
