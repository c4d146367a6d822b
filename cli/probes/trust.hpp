#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom trust`.
void add_trust_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
