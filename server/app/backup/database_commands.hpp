#pragma once

#include <string_view>

namespace fathom::server {

// What fathomd does besides being a server. Each takes what follows the program's name; argv[0] is the command itself.
// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong use, 128 + N ended by signal N.

/// `fathomd backup`: writes the whole database into a file, while fathomd runs or not.
int backup_command(int argc, const char* const* argv);
/// `fathomd restore`: fills an empty database from such a file.
int restore_command(int argc, const char* const* argv);

} // namespace fathom::server
