#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom profile -- program args…`
void add_profile_command(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
