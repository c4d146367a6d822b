#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom audit`.
void add_audit_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
