#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom accuracy operators`.
void add_operator_accuracy_command(CLI::App& accuracy, Invocation& invocation);

} // namespace fathom::cli
