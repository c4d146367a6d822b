#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom probe task compose`.
void add_probe_task_compose(CLI::App& task, Invocation& invocation);

} // namespace fathom::cli
