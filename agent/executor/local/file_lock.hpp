#pragma once

#include <filesystem>

namespace fathom::agent {

/// Takes the whole-file lock for this open file description, which must be open for writing; false when another one
/// has it.
bool take_lock(int fd);
/// The same, once nobody else has it any more; false, with errno, when it cannot be taken at all.
bool wait_for_lock(int fd);
/// Whether somebody holds it. Asks without taking, so that asking never keeps a supervisor from it.
bool is_locked(const std::filesystem::path& path);

} // namespace fathom::agent
