#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job wait`, `logs`.
void add_job_follow_commands(CLI::App& job, Invocation& invocation);

} // namespace fathom::cli
