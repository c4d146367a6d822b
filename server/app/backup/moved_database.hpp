#pragma once

#include "core/base/result.hpp"

#include <filesystem>
#include <string>

namespace fathom::server {

/// Where the note stands in a state folder whose embedded database was moved to another server.
std::filesystem::path moved_note(const std::filesystem::path& state_dir);

/// Whether the embedded database may be used: after a move it is old, and jobs would be run twice.
/// @error kConflict  it was moved; the detail says where to, and how to use it all the same.
Result<void> refuse_moved_database(const std::filesystem::path& state_dir);

/// Notes that it was moved to `target`, which must hold no password. @error  as write_file().
Result<void> note_moved_database(const std::filesystem::path& state_dir, const std::string& target);

} // namespace fathom::server
