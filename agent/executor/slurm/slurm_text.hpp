#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agent {

// What Slurm's programs print, in formats that we ask for and that have been the same for many versions. Pure. Lines
// that are not as asked for, such as warnings, are passed over; texts are bounded by who runs the programs
// (run_program_to_end).

/// A node as one partition shows it.
struct SlurmNode {
    std::string partition;
    std::string name;
    std::int64_t cpus{};         ///< processors as Slurm counts them
    std::int64_t cores{};        ///< physical
    std::int64_t memory_bytes{}; ///< that jobs may have
    std::string features;        ///< comma-separated, as sinfo gives them; empty: none
    std::string gres;            ///< such as gpu:a100:4; empty: none
    bool is_usable{};            ///< not down, drained or unknown
    std::int64_t max_wall_s{};   ///< that its partition lets a job run; 0: as long as it likes
    /// That connect it; empty: Slurm tells none. sinfo does not (parse_leaf_switches()).
    std::vector<std::string> leaf_switches{};

    bool operator==(const SlurmNode&) const = default;
};

/// sinfo's format for parse_nodes(): `sinfo -a -h -N -o FORMAT`.
inline constexpr const char* kNodeFormat = "%R|%N|%c|%X|%Y|%Z|%m|%f|%G|%T|%l";
/// Most nodes of all partitions together that are looked at.
inline constexpr std::size_t kMaxSlurmNodes = 200'000;

std::vector<SlurmNode> parse_nodes(std::string_view text);

/// What a node keeps for its system, which sinfo counts as the jobs' (MemSpecLimit, CoreSpecCount).
struct SlurmReserve {
    std::int64_t memory_bytes{};
    std::int64_t cpus{};

    bool operator==(const SlurmReserve&) const = default;
};

/// By node, those that keep something: from `scontrol -a -o show nodes`.
std::map<std::string, SlurmReserve, std::less<>> parse_reserves(std::string_view text);
/// What is left of a node for jobs.
void take_reserve(SlurmNode& node, const SlurmReserve& reserve);

/// A job as squeue shows it, also for some minutes after its end.
struct SlurmJob {
    std::string id;
    std::string name;
    std::string state;                    ///< such as PENDING
    std::int64_t wait_status{};           ///< of the batch script, as wait() gives it
    unsigned uid{};                       ///< of the user whose job it is
    std::optional<Timestamp> start;       ///< began; of a waiting job when it is expected to
    std::optional<Timestamp> end;         ///< ended, or will at its time limit
    std::optional<std::int64_t> used_s{}; ///< that it has run by Slurm's clock, without time in which it was suspended
    std::string nodes;                    ///< that it has, as Slurm writes lists of hosts
    std::string reason;                   ///< why it waits, or ended
    bool is_requeued = false;             ///< Slurm would start it again by itself; told by slurmrestd only
    bool knows_status = true;             ///< whether `wait_status` is what the script ended with
    // By the accounts only, and 0 where these do not know: where Slurm gathers nothing (JobAcctGatherType), say.
    double cpu_s{};                   ///< user and system, of all its steps on all its nodes
    std::int64_t peak_memory_bytes{}; ///< of its largest step, of all its processes together; sampled now and then
    std::int64_t energy_j{};          ///< of its largest step, that its nodes took meanwhile, also for other jobs
};

/// squeue's format for parse_queue(): `squeue -h -a -t all -O FORMAT`, with TZ=UTC.
inline constexpr const char* kQueueFormat =
    "JobID:|,Name:|,State:|,exit_code:|,UserID:|,StartTime:|,EndTime:|,TimeUsed:|,NodeList:|,Reason:|";

std::vector<SlurmJob> parse_queue(std::string_view text);

/// sacct's format for parse_accounts(): `sacct -n -P -D --noconvert -j JOBS --format=FORMAT`, with TZ=UTC.
inline constexpr const char* kAccountFormat =
    "JobIDRaw,JobName,State,ExitCode,UID,Start,End,NodeList,TotalCPU,TRESUsageInTot,ConsumedEnergyRaw";

/// Jobs as Slurm's accounting keeps them, also long after their end; without `used_s` and `reason`. Of jobs that had a
/// number one after another the last one comes last.
std::vector<SlurmJob> parse_accounts(std::string_view text);

/// The job's number from `sbatch --parsable`: the last line, `17` or `17;cluster`, perhaps after warnings.
/// @error kInvalid  no such line.
Result<std::string> parse_submitted(std::string_view text);

/// Whether sbatch's refusal holds for this job as long as the cluster's settings and limits are what they are, such as
/// a time limit above the partition's; else it may be taken later, such as when there are fewer jobs.
bool is_final_refusal(std::string_view text);

/// Of refusals, whether it says that slurmctld, which may have the job, or slurmdbd was not reached.
bool is_unreached(std::string_view text);

/// Whether a waiting job's reason (SlurmJob::reason) says that it never starts.
bool never_starts(std::string_view reason);

/// When a job would start by `sbatch --test-only`, which says `… to start at 2026-11-24T19:56:47 using …` (in UTC);
/// empty: it does not say.
std::optional<Timestamp> parse_tested_start(std::string_view text);

/// Slurm's `1-02:03:04`, `02:03:04` or `3:04` in seconds; empty for anything else, such as INVALID.
std::optional<std::int64_t> parse_slurm_duration(std::string_view text);

/// Slurm's `2026-11-24T19:56:47` in UTC; empty for anything else, such as N/A.
std::optional<Timestamp> parse_slurm_time(std::string_view text);

/// What Slurm's programs said, for people: one line without the programs' names, at most 1000 bytes.
std::string slurm_reason(std::string_view text);

} // namespace fathom::agent
