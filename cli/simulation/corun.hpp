#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom corun`: computed here, without a server.
void add_corun_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
