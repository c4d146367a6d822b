#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom maintenance`.
void add_maintenance_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
