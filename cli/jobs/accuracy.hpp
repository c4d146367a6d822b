#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom accuracy`.
void add_accuracy_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
