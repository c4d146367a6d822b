#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom authority`.
void add_authority_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
