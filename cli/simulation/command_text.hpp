#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace fathom::cli {

/// The command of `fathom simulate` with the options that it was given, as a shell takes it: what the report says it
/// can be made again with.
std::string command_text(const CLI::App& verb);

} // namespace fathom::cli
