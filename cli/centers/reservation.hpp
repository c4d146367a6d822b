#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom reservation`.
void add_reservation_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
