#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom event`.
void add_event_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
