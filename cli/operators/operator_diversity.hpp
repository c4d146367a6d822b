#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// Under `operator`.
void add_operator_diversity(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
