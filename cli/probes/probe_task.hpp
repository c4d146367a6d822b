#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom probe task`.
void add_probe_task_commands(CLI::App& probe, Invocation& invocation);

} // namespace fathom::cli
