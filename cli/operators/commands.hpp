#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_operator_commands(CLI::App& app, Invocation& invocation);
/// `fathom operator add`, `change`, `withdraw`
void add_operator_change_commands(CLI::App& noun, Invocation& invocation);
/// `fathom operator sign`, `upload`, `submit`
void add_operator_package_commands(CLI::App& noun, Invocation& invocation);
/// `fathom operator review`
void add_operator_review_commands(CLI::App& noun, Invocation& invocation);
/// `fathom operator key`
void add_operator_key_commands(CLI::App& noun, Invocation& invocation);
/// Under `operator`.
void add_operator_diversity(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
