#pragma once

#include "core/model/attempt.hpp"

#include <filesystem>
#include <sys/types.h>

namespace fathom::agent {

/// Makes the end of an attempt whose inputs could not be staged one that has not started its command, and says why.
/// @param owner  the job's user, who owns the working folder
/// @return whether that was so
bool note_failed_staging(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

/// Adds the outputs of an attempt that were stored to its end, and makes that a failure, with the reason, where one
/// could not be, although the command succeeded.
/// @param owner  as above
void note_outputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

} // namespace fathom::agent
