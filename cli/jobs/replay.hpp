#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom replay`.
void add_replay_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
