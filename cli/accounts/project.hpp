#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom project`.
void add_project_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
