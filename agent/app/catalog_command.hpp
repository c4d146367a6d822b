#pragma once

namespace fathom::agent {

// Takes what follows the program's name; argv[0] is the subcommand itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use.

/// `fathom-agent catalog`: prints what this center would report.
int catalog_command(int argc, const char* const* argv);

} // namespace fathom::agent
