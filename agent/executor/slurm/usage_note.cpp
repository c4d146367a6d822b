#include "agent/executor/slurm/usage_note.hpp"

#include <algorithm>

namespace fathom::agent {

std::string usage_lines()
{
    // A group that is not of this job's number is slurmd's, or somebody's session, as where Slurm follows processes
    // without control groups. The job's own is above those of its steps. Version 2 first, which has no kinds.
    return R"(while IFS=: read -r _ fathom_kinds fathom_group; do
    fathom_group=$fathom_group/
    [[ $fathom_group == */job_"$SLURM_JOB_ID"/* ]] || continue
    fathom_group=${fathom_group%%/job_"$SLURM_JOB_ID"/*}/job_$SLURM_JOB_ID
    if [[ -z $fathom_kinds ]]; then
        read -r fathom_used <"/sys/fs/cgroup$fathom_group/memory.peak" && echo "memory $fathom_used"
        while read -r fathom_name fathom_used; do
            [[ $fathom_name != usage_usec ]] || echo "cpu_us $fathom_used"
        done <"/sys/fs/cgroup$fathom_group/cpu.stat"
    elif [[ ,$fathom_kinds, == *,memory,* ]]; then
        read -r fathom_used <"/sys/fs/cgroup/memory$fathom_group/memory.max_usage_in_bytes" &&
            echo "memory $fathom_used"
    fi
done 2>/dev/null >"$fathom_report/usage" </proc/self/cgroup
)";
}

void add_account(JobUsage& usage, const SlurmJob& account)
{
    usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, account.peak_memory_bytes);
    usage.energy_j = std::max(usage.energy_j, account.energy_j);
    if (account.cpu_s <= 0) return;
    usage.cpu_s = account.cpu_s;
    usage.is_cpu_whole = true;
}

} // namespace fathom::agent
