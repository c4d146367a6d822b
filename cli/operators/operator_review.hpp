#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom operator review`.
void add_operator_review_commands(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
