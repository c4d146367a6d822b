#pragma once

#include "core/base/result.hpp"

#include <filesystem>
#include <stop_token>

namespace fathom::agent {

/// Deletes a folder with all that is in it, also what its owner has made unreadable or unwritable: the folders
/// in it are given the rights back that deleting takes. Follows no link and enters no other file system, so nothing
/// outside the folder is touched, whatever processes do in it meanwhile. What cannot be deleted does not keep
/// the rest. A folder that is not there is deleted. Blocks.
/// @param stop  gives up soon once it is requested.
/// @error kUnavailable  something is left; the detail names the first such path, and why.
Result<void> remove_tree(const std::filesystem::path& path, const std::stop_token& stop = {});

} // namespace fathom::agent
