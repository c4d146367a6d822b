#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job`.
void add_job_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
