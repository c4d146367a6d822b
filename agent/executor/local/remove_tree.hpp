#pragma once

#include "core/base/result.hpp"

#include <filesystem>

namespace fathom::agent {

/// Deletes a folder with all that is in it, also what its owner has made unreadable or unwritable: the folders
/// in it are given the rights back that deleting takes. Follows no link and enters no other file system, so nothing
/// outside the folder is touched, whatever processes do in it meanwhile. What cannot be deleted does not keep
/// the rest. A folder that is not there is deleted. Blocks.
/// @error kUnavailable  something is left; the detail names the first such path, and why.
Result<void> remove_tree(const std::filesystem::path& path);

} // namespace fathom::agent
