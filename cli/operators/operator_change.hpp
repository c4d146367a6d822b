#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom operator add`, `change`, `withdraw`.
void add_operator_change_commands(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
