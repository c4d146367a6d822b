#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom place`.
void add_place_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
