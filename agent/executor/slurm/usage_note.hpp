#pragma once

#include "agent/executor/batch/job_usage.hpp"
#include "agent/executor/slurm/slurm_text.hpp"

#include <string>

namespace fathom::agent {

/// Lines of a batch script, for bash, by which it notes the usage in the file `usage` of the folder `$fathom_report`.
/// The file stays empty where Slurm keeps jobs in no control groups, or the kernel tells no peak.
std::string usage_lines();

/// Adds what Slurm's accounts know of the job. Of memory the more counts: accounts are sampled, each half minute where
/// the cluster does not say otherwise, and miss what was needed for less long; the note is of one node.
void add_account(JobUsage& usage, const SlurmJob& account);

} // namespace fathom::agent
