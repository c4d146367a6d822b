#include "agent/executor/slurm/usage_note.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxMemoryBytes = 1LL << 50U;
constexpr std::int64_t kMaxCpu_us = 1'000'000'000'000'000'000;
constexpr std::string_view kMemoryWord = "memory ";
constexpr std::string_view kCpuWord = "cpu_us ";

/// What follows `word` in a line that begins with it; 0 where that is none that is sensible.
std::int64_t amount_after(std::string_view word, std::string_view line, std::int64_t most)
{
    if (!line.starts_with(word)) return 0;
    const std::int64_t amount = parse_number<std::int64_t>(line.substr(word.size())).value_or(0);
    return amount > 0 && amount <= most ? amount : 0;
}

} // namespace

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

JobUsage read_usage(std::string_view note)
{
    JobUsage usage;
    std::int64_t cpu_us = 0;
    for (const std::string_view line : split_text(note, '\n')) {
        usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, amount_after(kMemoryWord, line, kMaxMemoryBytes));
        cpu_us = std::max(cpu_us, amount_after(kCpuWord, line, kMaxCpu_us));
    }
    usage.cpu_s = static_cast<double>(cpu_us) / 1e6;
    return usage;
}

void add_account(JobUsage& usage, const SlurmJob& account)
{
    usage.peak_memory_bytes = std::max(usage.peak_memory_bytes, account.peak_memory_bytes);
    usage.energy_j = std::max(usage.energy_j, account.energy_j);
    if (account.cpu_s <= 0) return;
    usage.cpu_s = account.cpu_s;
    usage.is_cpu_whole = true;
}

void add_usage(AttemptEnd& end, const JobUsage& usage)
{
    if (!end.started_at) return;
    end.cpu_s = usage.is_cpu_whole ? usage.cpu_s : std::max(end.cpu_s, usage.cpu_s);
    end.energy_j = usage.energy_j;
    if (end.outcome != AttemptOutcome::kOutOfMemory) end.max_resident_bytes = usage.peak_memory_bytes;
}

} // namespace fathom::agent
