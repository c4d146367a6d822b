#pragma once

#include "core/base/open_inside.hpp"

namespace fathom::agent {

/// The state folder. Root takes only one where nobody else may write: they could put there what root should open.
/// @error kUnavailable  it cannot be opened, or is no such folder; the detail says what to do.
Result<OpenFile> open_state_folder(const std::filesystem::path& state_dir);

/// Takes STATE/agent.lock: two agents on one spool would both start its jobs. The lock holds as long as the file is
/// open, in this process or in one that it forks. Waits two seconds for an agent that was killed and is still ending.
/// @error kConflict     another agent has it.
/// @error kUnavailable  it cannot be made, or as open_state_folder().
Result<OpenFile> take_state_lock(const std::filesystem::path& state_dir);

} // namespace fathom::agent
