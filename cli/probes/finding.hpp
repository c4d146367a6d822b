#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom finding`.
void add_finding_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
