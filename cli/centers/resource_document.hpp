#pragma once

#include "cli/client/session.hpp"

#include <string>

namespace fathom::cli {

/// A document as YAML: objects, lists, texts, numbers. `name` stands first where there is one.
std::string write_yaml(const Json& document);

/// What turns `before` into `after`, all lines with "  ", "- " or "+ " in front; empty: they are the same.
std::string line_difference(const std::string& before, const std::string& after);

/// Has the user's editor ($VISUAL, $EDITOR, vi) change a file, and waits for it.
/// @error kUnavailable  it cannot be started, or it failed.
Result<void> run_editor(const Console& console, const std::string& path);

/// A new file in the folder for temporary ones that only its owner can read. @return its path.
/// @error kUnavailable  it could not be written.
Result<std::string> write_temporary_file(const Console& console, const std::string& content);

} // namespace fathom::cli
