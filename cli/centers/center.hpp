#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom center`.
void add_center_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
