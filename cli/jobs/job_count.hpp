#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job count`.
void add_job_count_command(CLI::App& job, Invocation& invocation);

} // namespace fathom::cli
