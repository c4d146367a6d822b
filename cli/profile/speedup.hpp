#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom speedup`: computed here, without a server.
void add_speedup_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
