#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job operators`.
void add_job_operators_command(CLI::App& job, Invocation& invocation);

} // namespace fathom::cli
