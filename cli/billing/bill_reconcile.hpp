#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom bill reconcile`.
void add_bill_reconcile(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
