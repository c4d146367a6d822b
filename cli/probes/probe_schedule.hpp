#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom probe schedule`.
void add_probe_schedule_commands(CLI::App& probe, Invocation& invocation);

} // namespace fathom::cli
