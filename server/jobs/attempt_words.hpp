#pragma once

#include "core/model/attempt.hpp"
#include "core/model/job.hpp"

#include <string>

namespace fathom::server {

/// What the end of an attempt means for its job.
struct JobEnding {
    JobState state{JobState::kFailed};
    std::string reason; ///< for people: "exit code 3", "killed by signal 9 (SIGKILL)"
};

/// @param wall_limit_s  the job's limit, for the words only.
JobEnding ending_of(const AttemptEnd& end, std::int64_t wall_limit_s);

/// Why a job waits for another place after its center ended the attempt (is_centers_doing): "lost: its supervisor …".
std::string requeue_cause(const AttemptEnd& end);

} // namespace fathom::server
