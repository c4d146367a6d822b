#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom price`.
void add_price_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
