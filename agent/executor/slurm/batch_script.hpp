#pragma once

#include "agent/executor/batch/batch_folder.hpp"

namespace fathom::agent {

/// How a job is submitted.
struct BatchOptions {
    std::string account;
    std::string qos;
    std::string user;               ///< name of the user that it runs as
    std::filesystem::path programs; ///< folder of fathom-probe, last in PATH
    /// So long Slurm may wait for nodes of one leaf switch for a job of several; 0: any nodes will do.
    std::int64_t switches_wait_s{};
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
/// folder that all nodes see. Nodes of one leaf switch are asked for only where so many units have one. Pure.
/// @error kInvalid     check_batch_place().
/// @error kInfeasible  a probe of more units than one node has.
Result<std::string> batch_script(const RunOrder& run, const BatchFolder& folder, const BatchOptions& options);

} // namespace fathom::agent
