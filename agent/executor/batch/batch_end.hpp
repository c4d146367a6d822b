#pragma once

#include "agent/executor/batch/batch_folder.hpp"
#include "agent/executor/batch/input_keeper.hpp"
#include "agent/executor/batch/job_usage.hpp"

namespace fathom::agent {

/// An attempt of a batch system that has ended.
struct EndedBatchJob {
    AttemptId id;
    BatchFolder folder;
    BatchLimits limits;
    uid_t owner{}; ///< the job's user
};

/// Adds to the end of an attempt what its folder tells: how much it printed, what it used, what staging and storing
/// took and came to, and its profile. What may be kept of its inputs and outputs goes to the keeper.
void complete_end(AttemptEnd& end, const EndedBatchJob& job, const JobUsage& usage, InputKeeper& keeper);

} // namespace fathom::agent
