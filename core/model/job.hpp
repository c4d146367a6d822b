#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/gpu_memory.hpp"
#include "core/model/job_input.hpp"
#include "core/model/job_output.hpp"
#include "core/model/job_software.hpp"
#include "core/model/job_step.hpp"
#include "core/model/money.hpp"
#include "core/model/probe_task.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

inline constexpr std::size_t kMaxJobNameBytes = 200; ///< of the name of a job, a probe task or a probe run
inline constexpr std::size_t kMaxJobTypeBytes = 200; ///< of the name of a job type

/// Where a job stands (design: "States"). Who moves it is in docs/architecture.md.
enum class JobState {
    kQueued,     ///< accepted; waits for the router
    kMetering,   ///< waits for probe runs of its type (M10)
    kPlaced,     ///< units are reserved at a center
    kDispatched, ///< the center's agent has confirmed it
    kRunning,
    kSucceeded,
    kFailed,
    kCancelled,
    kLost, ///< its center has been unreachable past its lease; goes on when the center returns
};
std::string_view to_string(JobState state);
std::optional<JobState> parse_job_state(std::string_view text);
bool is_final(JobState state);

/// Whether others may compute on the devices that a job has units of (job.yaml `units.sharing`).
enum class UnitSharing {
    kAllowed,   ///< where units are parts of a device, other jobs may have the other parts
    kExclusive, ///< it gets whole devices, and nobody else has a part of them while it runs
};
std::string_view to_string(UnitSharing sharing);

/// How many units of which type (job.yaml `units`).
struct UnitRequest {
    std::string type = "any";          ///< "any", or a unit type's name or id
    std::string device;                ///< "cpu" or "gpu"; empty: either
    std::vector<std::string> isa;      ///< instruction sets that the program needs, such as "avx512f"; all of them
    std::int64_t memory_bytes = 0;     ///< that each unit must have at least
    GpuMemoryRequest gpu_memory;       ///< units without a GPU have none
    std::string center;                ///< empty for any, or a center's name or id
    std::optional<std::int64_t> count; ///< empty: auto
    std::int64_t min = 1;
    std::int64_t max = 1024;
    bool ignore_knee = false; ///< auto may take more units than the scaling curves advise, when that is faster
    UnitSharing sharing = UnitSharing::kAllowed;

    bool is_exclusive() const { return sharing == UnitSharing::kExclusive; }
};

/// Something that the job fetches itself before it computes.
struct DataInput {
    std::string url;  ///< for people; may be empty
    double bytes = 0; ///< at least 0
};

/// What the job itself moves over its center's network; the metascheduler only times it.
struct JobData {
    std::vector<DataInput> in;
    double out_bytes = 0;
    /// Names or ids of the centers that the data may be at: the job runs at one of these. Empty: anywhere.
    std::vector<std::string> sites;
    bool is_compressed = false; ///< its program compresses what goes between its units

    double in_bytes() const;
};

/// When the job may start its transfers (M20).
enum class NetworkChoice {
    kAuto, ///< may wait for a good network window
    kNow,  ///< as soon as there are units
};
std::string_view to_string(NetworkChoice choice);

/// What a job's place is chosen by: weights that are not negative and sum to 1 (job.yaml `prefer`: fastest, cheapest,
/// greenest, or the weights).
struct Preference {
    double time = 1;   ///< of the completion
    double cost = 0;   ///< of the money
    double energy = 0; ///< of the energy
};
/// "fastest", "cheapest", "greenest", or "time 0.5, cost 0.5".
std::string to_string(const Preference& preference);

/// Jobs that must start together.
struct GangRequest {
    std::string id;        ///< chosen by the submitter, unique in the project; empty: no gang
    std::int64_t size = 0; ///< members, at least 2
};

/// The wall limit of jobs that do not name one.
inline constexpr std::int64_t kUsualWallLimit_s = 86400;

/// A job as a client describes it: the body of POST /api/v1/jobs and a job.yaml file.
struct JobSpec {
    std::string name;
    std::string project = "default";
    std::string type;                 ///< empty: derived from the operator mix
    std::vector<std::string> command; ///< either this …
    std::string script;               ///< … or this, run by its `#!` line or /bin/sh
    std::map<std::string, std::string> environment;
    /// More of it, for the job's eyes only: its values are given once and never told again (nullopt).
    std::map<std::string, std::optional<std::string>> secret_environment;
    std::map<std::string, std::string> files; ///< name -> content, written into the working folder
    std::vector<JobInput> inputs;             ///< staged into the working folder by the agent
    std::vector<JobOutput> outputs;           ///< stored by the agent once the command has succeeded
    JobSoftware software;
    std::vector<OperatorUse> operators; ///< how often the job executes which operator
    std::vector<StepSpec> steps;        ///< that it runs one after the other, as its script says it, too; empty: none
    bool may_split = false;             ///< by its owner's leave it may be divided into parts by its steps
    UnitRequest units;
    JobData data;
    NetworkChoice network = NetworkChoice::kAuto;
    std::optional<Timestamp> deadline; ///< hard: it is not placed where it would end later
    std::optional<Money> budget;       ///< hard: it is not placed where it would cost more
    Preference prefer;
    std::int64_t priority = 0; ///< -100 to 100; among the jobs of its project first, then against others'
    GangRequest gang;
    std::int64_t wall_limit_s = kUsualWallLimit_s;
    /// True: it may run again from its beginning when an attempt ends through its center (is_centers_doing).
    bool requeue = false;
    /// True: the center counts the operators that the job executes, and its type learns from them (M11).
    bool profile = false;
    std::int64_t metering_wait_s = 120; ///< longest wait for probes before it is placed on what is known (M10)
};

/// How long its submitter says that it runs at most, in seconds; 0: nothing, as the usual wall limit is nobody's word.
std::int64_t asked_limit_s(const JobSpec& spec);

/// Reads a job strictly: every error at once, unknown fields refused. Whether operators and unit types
/// exist is checked against the catalog later.
/// @error kInvalid
Result<JobSpec> parse_job_spec(const Json& json);
/// What may be shown and kept: of the secret environment the names only, each null. Steps are left out: it is the job
/// that runs all of them (steps_json()).
Json to_json(const JobSpec& spec);

/// The values of the secret environment as a JSON object; empty where there are none.
std::string secrets_text(const JobSpec& spec);
/// @error kInvalid  values are missing: the job was copied from what was shown of another one.
Result<void> check_secrets_given(const JobSpec& spec);

} // namespace fathom
