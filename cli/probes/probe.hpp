#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom probe`.
void add_probe_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
