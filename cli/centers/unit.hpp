#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom unit`.
void add_unit_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
