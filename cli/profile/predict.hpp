#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom predict`: computed here, without a server.
void add_predict_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
