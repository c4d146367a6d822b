#pragma once

#include "core/base/result.hpp"

#include <filesystem>
#include <string>

namespace fathom::agent {

/// What a file of /sys says, without its line end.
/// @error kUnavailable  there is none: the detail begins with "absent"; or it cannot be read.
Result<std::string> read_knob(const std::filesystem::path& path);

/// Writes to a file of /sys, as it stands: such a file cannot be replaced. None is made.
/// @error kUnavailable  there is none, or the write failed.
/// @error kForbidden    the system refused.
Result<void> write_knob(const std::filesystem::path& path, const std::string& content);

} // namespace fathom::agent
