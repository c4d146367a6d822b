#pragma once

#include "cli/text/console.hpp"

#include <string>
#include <vector>

namespace fathom::cli {

/// The whole program without its process: parses the arguments (without the program's name), does what
/// they ask, reports what went wrong.
/// @return the exit code, see ExitCode.
int run(std::vector<std::string> arguments, const Console& console);

} // namespace fathom::cli
