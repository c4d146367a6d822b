#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom bill export`.
void add_bill_export(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
