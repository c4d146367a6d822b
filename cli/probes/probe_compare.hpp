#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// Under `probe`.
void add_probe_compare(CLI::App& probe, Invocation& invocation);

} // namespace fathom::cli
