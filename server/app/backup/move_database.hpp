#pragma once

namespace fathom::server {

// Takes what follows the program's name; argv[0] is the command itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use, 128 + N ended by signal N.

/// `fathomd move-database`: copies the embedded database to an empty one of another server.
int move_database_command(int argc, const char* const* argv);

} // namespace fathom::server
