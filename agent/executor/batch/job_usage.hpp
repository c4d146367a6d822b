#pragma once

#include "core/model/attempt.hpp"

#include <string_view>

namespace fathom::agent {

/// What a job has used, by the control group that its batch system made for it, with all that ran there. Of a job of
/// Slurm's that is the group on the node of its batch script, also with what srun started; what it used on other nodes
/// is not in it, but by Slurm's accounts.
struct JobUsage {
    std::int64_t peak_memory_bytes{}; ///< most at once, with the cache of files that it read and wrote; 0: not known
    double cpu_s{};                   ///< user and system; 0: not known
    std::int64_t energy_j{};          ///< by Slurm's accounts; 0: not known
    bool is_cpu_whole{};              ///< Slurm's accounts say it, which know of all nodes and cannot be forged
};

/// Reads what a batch script noted, in lines `memory BYTES` and `cpu_us MICROSECONDS`. The job's user could forge it:
/// what is no such note, or more than any node has, is left out.
JobUsage read_usage(std::string_view note);

/// Adds to the end of an attempt that ran what was not known of it: its peak memory, and processor time that the
/// script's shell could not see. Of one that ran out of memory no peak is told: it is the limit.
void add_usage(AttemptEnd& end, const JobUsage& usage);

} // namespace fathom::agent
