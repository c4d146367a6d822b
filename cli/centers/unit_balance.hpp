#pragma once

#include "cli/client/command_line.hpp"

namespace fathom::cli {

/// `fathom unit balance CENTER/UNIT`: what to show of a unit's balance loop.
struct BalanceView {
    std::string unit;  ///< center/unit
    std::string since; ///< RFC 3339; empty: the last ones
    std::int64_t last = 100;
    bool follows = false;
};

/// Prints the steps that are kept, a drawing of error and output with the band, and what was done and why; then each
/// new step, until Ctrl-C, where it follows. In JSON the steps, the oldest first; one a line where it follows.
Outcome show_balance(Session& session, const BalanceView& view);

/// `fathom unit balanced`
void add_balanced_unit_list(CLI::App& noun, Invocation& invocation);

/// One step as a line: time, occupancies, error, output, both on a scale from -1 to 1 with the band, and what was done.
std::string balance_line(const Json& step);

} // namespace fathom::cli
