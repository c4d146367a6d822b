#pragma once

#include "agent/executor/slurm/slurm_text.hpp"
#include "core/model/attempt.hpp"

#include <string>
#include <string_view>

namespace fathom::agent {

/// What a job has used, by the control group that Slurm made for it on the node of its batch script: with all that its
/// steps have run there, also what srun started. What it used on other nodes is not in it, but by Slurm's accounts.
struct JobUsage {
    std::int64_t peak_memory_bytes{}; ///< most at once, with the cache of files that it read and wrote; 0: not known
    double cpu_s{};                   ///< user and system; 0: not known
    std::int64_t energy_j{};          ///< by Slurm's accounts; 0: not known
    bool is_cpu_whole{};              ///< Slurm's accounts say it, which know of all nodes and cannot be forged
};

/// Lines of a batch script, for bash, by which it notes the usage in the file `usage` of the folder `$fathom_report`.
/// The file stays empty where Slurm keeps jobs in no control groups, or the kernel tells no peak.
std::string usage_lines();

/// Reads that file, which the job's user could forge: what is no such note, or more than any node has, is left out.
JobUsage read_usage(std::string_view note);

/// Adds what Slurm's accounts know of the job. Of memory the more counts: accounts are sampled, each half minute where
/// the cluster does not say otherwise, and miss what was needed for less long; the note is of one node.
void add_account(JobUsage& usage, const SlurmJob& account);

/// Adds to the end of an attempt that ran what was not known of it: its peak memory, and processor time that the
/// script's shell could not see. Of one that ran out of memory no peak is told: it is the limit.
void add_usage(AttemptEnd& end, const JobUsage& usage);

} // namespace fathom::agent
