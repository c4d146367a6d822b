#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom unit parts`, `requests`, `grants` and `changes`
void add_sub_unit_lists(CLI::App& noun, Invocation& invocation);
/// `fathom unit request`, `release`, `balance`, `cancel` and `undo`
void add_sub_unit_changes(CLI::App& noun, Invocation& invocation);

} // namespace fathom::cli
