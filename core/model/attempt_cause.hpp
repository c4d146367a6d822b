#pragma once

#include <optional>
#include <string_view>

namespace fathom {

/// What an attempt's outcome leaves open and others decide by: whose failure it is that it was not started, or had no
/// good end. AttemptEnd::detail tells people the same; nothing is decided by its words.
enum class AttemptCause {
    kNone,              ///< the outcome says all: one that failed to start did so through its center
    kProgramNotStarted, ///< the job's own program could not be executed: not there, not executable
    kStagingFailed,     ///< its inputs could not be fetched, or its center cannot stage: its command never started
    kNoLocalUser,       ///< its center has local users for some users of the network, and none for whose job it is
    kOutputsFailed,     ///< its command ended with exit code 0, and an output could not be stored: it has no exit code
};

/// The written code, "no_local_user" and so on; "none" for kNone.
std::string_view to_string(AttemptCause cause);
std::optional<AttemptCause> parse_attempt_cause(std::string_view text);

} // namespace fathom
