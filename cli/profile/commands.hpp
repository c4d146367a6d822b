#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

/// `fathom speedup`: computed here, without a server.
void add_speedup_commands(CLI::App& app, Invocation& invocation);
/// `fathom predict`: computed here, without a server.
void add_predict_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
