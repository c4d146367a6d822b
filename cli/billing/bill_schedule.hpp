#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom bill schedule`.
void add_bill_schedule(CLI::App& bill, Invocation& invocation);

} // namespace fathom::cli
