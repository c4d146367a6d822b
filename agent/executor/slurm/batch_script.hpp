#pragma once

#include "agent/executor/executor.hpp"

#include <filesystem>

namespace fathom::agent {

/// The folders of one attempt, at the same path here and on the nodes.
///
///     job.sh           what is submitted; written last: without it nothing was
///     job_id           Slurm's number of the job, once sbatch has told it
///     limits           its wall limit in seconds, `memory` and its units' bytes where known, `inputs` and
///                      `outputs` when it has some, and `profile` when it wants one
///     user             who the job runs as: ids of user and group, and the name; not where it runs as the agent does
///     inputs           those of its inputs that may be kept for later jobs; not where it has none
///     stop             why its end was asked for: `cancelled` or `wall_limit`
///     stdout, stderr   of the program; Slurm writes them as the job's user
///     report/          the job's user's: `first` (the job that may run), `started`,
///                      `started_again`, `usage`, `ended`
///     work/            the program's working folder and home; the job's user's
struct SlurmFolder {
    std::filesystem::path path;

    std::filesystem::path script() const { return path / "job.sh"; }
    std::filesystem::path job_id() const { return path / "job_id"; }
    std::filesystem::path limits() const { return path / "limits"; }
    std::filesystem::path user() const { return path / "user"; }
    std::filesystem::path inputs() const { return path / "inputs"; }
    std::filesystem::path stop() const { return path / "stop"; }
    std::filesystem::path report() const { return path / "report"; }
    std::filesystem::path work() const { return path / "work"; }
};

/// How a job is submitted.
struct BatchOptions {
    std::string account;
    std::string qos;
    std::string user;               ///< name of the user that it runs as
    std::filesystem::path programs; ///< folder of fathom-probe, last in PATH
};

/// Whether sbatch may be given this place as it stands.
/// @error kInvalid  a partition, constraint or kind of devices with characters that none has.
Result<void> check_batch_place(const BatchPlace& place);

/// An option of sbatch, without the dashes before its name.
struct BatchOption {
    std::string name;
    std::string value;
};

/// What so many units of a place are asked for with, on sbatch's command line and in its script.
std::vector<BatchOption> demands_of(const BatchPlace& place, std::int64_t units, std::int64_t tasks);

/// The batch script of an attempt: its demands, environment and program, and notes of when it started, what it used
/// and how it ended.
/// Of two jobs for one attempt only the first runs it. A program on several nodes is started by srun, once a unit; a
/// script runs on the first node, and starts what it wants by srun. Inputs are staged on the first node, into the
/// folder that all nodes see. Pure.
/// @error kInvalid     check_batch_place().
/// @error kInfeasible  a probe of more units than one node has.
Result<std::string> batch_script(const RunOrder& run, const SlurmFolder& folder, const BatchOptions& options);

/// `text` as one word of a shell.
std::string shell_quoted(std::string_view text);

} // namespace fathom::agent
