#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom operator key`.
void add_operator_key_commands(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
