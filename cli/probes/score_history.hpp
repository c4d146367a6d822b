#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom score history`.
void add_score_history(CLI::App& score, Invocation& invocation);

} // namespace fathom::cli
