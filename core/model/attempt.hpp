#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/attempt_cause.hpp"
#include "core/model/gpu_pair.hpp"
#include "core/model/job_input.hpp"
#include "core/model/job_output.hpp"
#include "core/model/job_software.hpp"
#include "core/model/kernel_class.hpp"
#include "core/model/staging_use.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// An operator that units must be able to execute.
struct OperatorNeed {
    std::string id;
    bool is_uploaded{false}; ///< its code comes with the order; not every center takes such

    bool operator==(const OperatorNeed&) const = default;
};

/// Whose job it is, as the network knows them.
struct AttemptOwner {
    std::string submitter; ///< id of the token or account that it was submitted with; empty: it is not told
    std::string account;   ///< the account's name; empty: a token's job
    std::string project;

    bool operator==(const AttemptOwner&) const = default;
};

/// An order to run one attempt of a job on units of one type: all that an agent needs to know.
struct AttemptOrder {
    AttemptId attempt_id; ///< also the attempt's name in the center's batch system
    JobId job_id;
    std::string name;
    std::string label;     ///< "job" or "probe": the only difference between them (M22)
    std::string unit_type; ///< the name that the agent reported
    /// M13d: `unit_type` is only a proposal; the agent may take another of its types and reports it.
    bool center_chooses{false};
    std::int64_t unit_count{1};
    /// M14: `unit_count` is the most that is reserved; the agent takes of it what it has, at least 1, and reports it.
    bool center_counts{false};
    /// It gets whole devices only, as many as hold `unit_count` units, and nobody else has a part of them meanwhile.
    bool is_exclusive{false};
    std::vector<OperatorNeed> operators{}; ///< of a probe: what the unit type that runs it must be able to do
    std::vector<std::string> command;      ///< either this or `script`
    std::string script;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> files; ///< name -> content
    std::vector<JobInput> inputs{};           ///< staged before the command starts, as the job's user
    JobSoftware software{};                   ///< of its center's, that the command needs
    std::vector<JobOutput> outputs{};         ///< stored once the command has succeeded, as the job's user
    std::int64_t wall_limit_s{86400};         ///< of staging, the command and storing together
    bool profile{false};                      ///< count the job's operators while it runs (M11)
    /// Of a job that is profiled: ids of the operators that it names, or that its type is known to execute.
    std::vector<std::string> known_operators{};
    /// What its work on a GPU is bound by, so that the agent chooses beside whom it goes on a device that it shares
    /// (C8).
    KernelClass kernel_class{KernelClass::kUnknown};
    /// What jobs like it are called where pairs of jobs are known; empty: nothing is known of it.
    std::string gpu_kind{};
    /// What jobs kept of their speed beside others on a GPU: first those like it, then others from which what never ran
    /// together is inferred. At most kMaxGpuPairs.
    std::vector<GpuPair> gpu_pairs{};
    /// What jobs like it kept of the pace of their iterations beside others that had the turn on a GPU at the same
    /// time, at any center: each with gpu_kind. At most kMaxGpuPairs.
    std::vector<GpuPair> turn_pairs{};
    /// Told only to centers with a local user for each user, or with an object store that the job uses.
    AttemptOwner owner{};
};

/// How an attempt ended.
enum class AttemptOutcome {
    kExited,        ///< by itself, with exit_code
    kSignalled,     ///< by `signal`
    kWallLimit,     ///< killed at its wall-time limit
    kCancelled,     ///< killed, or never started, on request
    kFailedToStart, ///< the program could not be started; `cause` says whose failure that is, `detail` why
    kLost,          ///< nobody knows: its supervisor vanished (a reboot, say)
    kOutOfMemory,   ///< killed because it wanted more memory than its units have
    kNodeFailure,   ///< a node that it was to run on, or ran on, failed
    kPreempted,     ///< its center took its units away for other jobs
};
std::string_view to_string(AttemptOutcome outcome);
std::optional<AttemptOutcome> parse_attempt_outcome(std::string_view text);

/// Whether the attempt ended through its center and not through its job: lost, node_failure, preempted. The job may be
/// placed again then, where its owner lets it, and its project does not pay for the attempt.
bool is_centers_doing(AttemptOutcome outcome);

struct AttemptEnd {
    AttemptId attempt_id;
    AttemptOutcome outcome{AttemptOutcome::kLost};
    std::optional<std::int64_t> exit_code; ///< for kExited
    std::optional<std::int64_t> signal;    ///< for kSignalled and kOutOfMemory
    AttemptCause cause{AttemptCause::kNone};
    std::string detail;                  ///< for people; of kOutOfMemory mostly a sentence that says so
    std::optional<Timestamp> started_at; ///< empty when it never ran
    Timestamp ended_at{};
    double run_s{}; ///< wall time, steady clock, with staging: as long as it held its units
    double cpu_s{}; ///< user + system, all its processes
    /// Most that one of its processes had; of a job of Slurm's, most that all had on its first node, with the cache of
    /// its files, or of its largest step on all nodes by Slurm's accounts, whichever is more. 0: not known.
    std::int64_t max_resident_bytes{};
    /// That it ran on, as its center's batch system writes lists of hosts, at most kMaxNodesBytes; empty: not told.
    std::string nodes{};
    /// Joules that the nodes took while it ran, as its center's batch system counts them; other jobs there are in it.
    /// At most kMaxEnergy_j; 0: not told.
    std::int64_t energy_j{};
    std::int64_t stdout_bytes{}; ///< written in all, also past what is kept
    std::int64_t stderr_bytes{};
    /// Which operators it executed, as `fathom-profile --output json` writes it; null when it was not profiled.
    Json profile{};
    std::vector<StoredOutput> outputs{}; ///< in the order of the job's, up to the first that could not be stored
    std::optional<StagingUse> staging{}; ///< of one that has inputs or outputs and came to their end; part of `run_s`
};

/// More than any job takes: a gigawatt for a month.
inline constexpr std::int64_t kMaxEnergy_j = 2'600'000'000'000'000;

/// Longer lists of nodes are cut.
inline constexpr std::size_t kMaxNodesBytes = 1000;

/// The largest profile that is passed on; larger ones are left out, and `detail` says so.
inline constexpr std::size_t kMaxProfileBytes = 256UL << 10U;
/// Levels of nesting: the messages that carry it have a few more, and are read to 32.
inline constexpr std::size_t kMaxProfileDepth = 24;

} // namespace fathom
