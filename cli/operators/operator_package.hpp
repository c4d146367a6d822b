#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom operator sign`, `upload`, `submit`.
void add_operator_package_commands(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
