#pragma once

#include "core/model/attempt.hpp"

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::agent {

/// Adds what fetching its inputs took to the end of an attempt, and where one could not be fetched makes it the end of
/// one that has not started its command, and says why.
/// @param owner  the job's user, who owns the working folder
/// @return whether the command was started
bool note_inputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

/// SHA-256 of inputs that its center had and of which the job says that they were spoiled.
/// @param folder  the open working folder
std::vector<std::string> read_spoiled_inputs(int folder, uid_t owner);

/// Adds the outputs of an attempt that were stored, and how long that took, to its end, and makes that a failure, with
/// the reason, where one could not be, although the command succeeded.
/// @param owner  as above
void note_outputs(AttemptEnd& end, const std::filesystem::path& work, uid_t owner);

} // namespace fathom::agent
