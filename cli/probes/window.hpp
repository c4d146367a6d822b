#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom window`.
void add_window_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
