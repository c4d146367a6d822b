#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom simulate export`.
void add_simulate_export(CLI::App& simulate, Invocation& invocation);

} // namespace fathom::cli
