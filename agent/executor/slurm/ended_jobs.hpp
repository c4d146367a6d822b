#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/slurm/slurm_text.hpp"
#include "core/base/id.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace fathom::agent {

/// A job of Slurm's whose attempt has ended.
struct EndedJob {
    AttemptId attempt;
    unsigned uid{}; ///< of the user that it ran as
    std::optional<JobUser> user;
    std::optional<std::chrono::steady_clock::time_point> shown_at{}; ///< since when Slurm shows it as not ended
};

/// The newest jobs whose attempts have ended. A controller that was killed may have a job run or wait again whose end
/// it had told: nobody else would give back what the job holds. Not thread-safe.
class EndedJobs {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// @param number  Slurm's.
    void add(const std::string& number, EndedJob job);
    /// The job that Slurm shows; nullptr: it is none of these.
    EndedJob* find(const SlurmJob& shown);
    /// Whether Slurm has shown the job as one that has not ended for so long that it is to be cancelled. Then it counts
    /// anew: once more, if that does not help.
    static bool is_left(EndedJob& job, const SlurmJob& shown, Time now, std::chrono::milliseconds limit);

  private:
    std::map<std::string, EndedJob> jobs_; ///< by Slurm's number
    std::deque<std::string> order_;        ///< their numbers, in the order of their ends
};

} // namespace fathom::agent
