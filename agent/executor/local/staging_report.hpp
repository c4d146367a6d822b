#pragma once

#include "core/model/attempt.hpp"

#include <filesystem>
#include <sys/types.h>

namespace fathom::agent {

/// Adds what fetching its inputs took to the end of an attempt, and where one could not be fetched makes it the end of
/// one that has not started its command, and says why.
/// @param owner  the job's user, who owns the working folder
/// @return whether the command was started
bool note_inputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

/// Adds the outputs of an attempt that were stored, and how long that took, to its end, and makes that a failure, with
/// the reason, where one could not be, although the command succeeded.
/// @param owner  as above
void note_outputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

} // namespace fathom::agent
