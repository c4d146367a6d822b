#pragma once

#include <string_view>

namespace fathom::link {

/// How AttemptEnd::detail begins when an attempt failed to start because the job's own program could not be executed:
/// not there, not executable. Every other failure to start but the next two is the center's.
inline constexpr std::string_view kProgramNotStarted = "cannot start \"";

/// How it begins when the job's inputs could not be staged, so that its command was never started. URLs are the user's,
/// so neither is this the center's failure.
inline constexpr std::string_view kStagingFailed = "staging failed: ";

/// How it begins when the center has local users for some users of the network, and none for whose job it is.
inline constexpr std::string_view kNoLocalUser = "no local user: ";

/// How it begins when the command ended with exit code 0, and an output of the job could not be stored: the outcome is
/// `exited` then, without an exit code.
inline constexpr std::string_view kOutputsFailed = "outputs could not be stored: ";

/// How it begins when the outcome is out_of_memory: a server that takes the end for one by a signal tells it so.
inline constexpr std::string_view kOutOfMemory = "out of memory: ";

} // namespace fathom::link
