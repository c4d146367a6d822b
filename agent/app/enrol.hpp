#pragma once

namespace fathom::agent {

// Takes what follows the program's name; argv[0] is the subcommand itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use.

/// `fathom-agent enrol`: gets this center's first certificate with a one-time token.
int enrol_command(int argc, const char* const* argv);

} // namespace fathom::agent
