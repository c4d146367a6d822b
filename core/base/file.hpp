#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace fathom {

/// Reads a whole file. Blocks.
/// @error kNotFound  there is no such file.
/// @error kTooLarge  it is larger than `max_bytes`.
/// @error kUnavailable  it cannot be read; the detail says why.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes = 16UL << 20U);

/// Writes through a temporary file in the same folder, flushed and renamed, and flushes the folder: readers see the
/// old or the new content, never half of it, also after a power failure; of several writers the last one wins. `mode`
/// is as for chmod. A device or pipe that is there already is written to as it stands. Blocks.
/// @error kUnavailable  the detail says why.
Result<void> write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644);

/// The same without flushing, for what is worth nothing after a power failure.
Result<void> write_file_unflushed(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644);

} // namespace fathom
