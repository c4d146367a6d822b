#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom bill`.
void add_bill_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
