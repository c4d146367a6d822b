#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom unit load`
void add_unit_load(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
