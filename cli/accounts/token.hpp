#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom token`.
void add_token_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
