#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job outputs`.
void add_job_outputs_command(CLI::App& job, Invocation& invocation);

} // namespace fathom::cli
