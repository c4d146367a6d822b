#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace fathom {

// Work inside a folder that belongs to another user, who may put there what they like: links to files of ours, pipes
// that nobody reads, other people's files by second names. So every step is one name in an open folder, no link is
// followed, and what was opened is looked at before it is used.

/// Opens a folder; `parent` may be AT_FDCWD, and then `name` a path whose last part is no link.
/// @error kNotFound     there is none.
/// @error kUnavailable  it is no folder, or belongs to somebody else than `owner` and us.
Result<OpenFile> open_folder(int parent, const std::filesystem::path& name, uid_t owner);

/// The same, made where there is none; it gets mode 0700, and `owner` and `group` where it is ours.
Result<OpenFile> make_folder(int parent, const std::filesystem::path& name, uid_t owner, gid_t group);

/// What a plain file of `owner`, or of ours, holds, up to `most_bytes` of its end.
/// @error kNotFound     there is none.
/// @error kUnavailable  it is something else, or somebody else's, or cannot be read.
Result<std::string> read_end(int folder, const std::string& name, uid_t owner, std::size_t most_bytes);

/// Opens a plain file of `owner` for writing at its end; makes it with mode 0600 where there is none.
/// @error kUnavailable  something else stands there, or somebody else's.
Result<OpenFile> open_log(int folder, const std::string& name, uid_t owner, gid_t group);

/// Writes a plain file with mode 0600 in place of what stands there, of which only the name is removed.
/// @error kUnavailable  a folder stands there, or the file cannot be written.
Result<void> replace_file(int folder, const std::string& name, std::string_view content, uid_t owner, gid_t group);

/// Its size; empty when there is none, or when it is no plain file.
std::optional<std::uintmax_t> size_of(int folder, const std::string& name);

} // namespace fathom
