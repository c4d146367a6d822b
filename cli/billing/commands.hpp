#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_price_commands(CLI::App& app, Invocation& invocation);
void add_bill_commands(CLI::App& app, Invocation& invocation);
/// `fathom bill export`
void add_bill_export(CLI::App& noun, Invocation& invocation);
/// `fathom bill schedule`
void add_bill_schedule(CLI::App& bill, Invocation& invocation);
/// `fathom bill reconcile`
void add_bill_reconcile(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
