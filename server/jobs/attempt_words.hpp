#pragma once

#include "core/model/attempt.hpp"
#include "core/model/device_neighbours.hpp"
#include "core/model/job.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// Where a job has started, and of one that shares a device with whom, by classes, and what that is expected to cost.
/// Other jobs are not named: who may read this one may not know of them.
std::string start_cause(const std::string& center, const std::optional<DeviceNeighbours>& neighbours);

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
