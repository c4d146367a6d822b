#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job submit` and `fathom job preview`.
void add_job_submit_commands(CLI::App& job, Invocation& invocation);

} // namespace fathom::cli
