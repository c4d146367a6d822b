#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom job-type`.
void add_job_type_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
