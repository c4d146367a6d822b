#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom center resources`.
void add_center_resource_commands(CLI::App& center, Invocation& invocation);

} // namespace fathom::cli
