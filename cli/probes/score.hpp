#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom score`.
void add_score_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
