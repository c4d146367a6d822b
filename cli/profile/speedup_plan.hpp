#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom speedup plan`: where each operator of a query's physical plan should run.
void add_speedup_plan_command(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
