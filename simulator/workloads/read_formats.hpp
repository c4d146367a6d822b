#pragma once

#include "simulator/workloads/read_workload.hpp"

#include <istream>

/// The readers behind read_workload(). Each takes a stream that stands at the file's beginning, and its path for files
/// that lie beside it.
namespace fathom::simulation {

using WorkloadReader = Result<WorkloadInput>(std::istream& input, const std::filesystem::path& path,
                                             const ReadSettings& settings);

/// The standard workload format: 18 columns, a header of lines with ';' (Chapin et al., JSSPP 1999;
/// www.cs.huji.ac.il/labs/parallel/workload/swf.html). Run times are those that were logged, on as many processors as
/// were allocated, else requested. Projects are groups, else queues; programs are executables, else users.
WorkloadReader read_swf;

/// The same log as comma-separated values with a header line: submit_s, run_s, procs, and where there are such:
/// req_procs, req_time_s, user, group, queue, executable.
WorkloadReader read_swf_csv;

/// Jobs of Microsoft's Philly cluster (Jeon et al., USENIX ATC 2019): submit_s, duration_s, num_gpus, vc, and where
/// there are such: weekday (0: Monday), hour. A virtual cluster is a project, and a user. Nothing is known of what jobs
/// compute: each is a program of its own.
WorkloadReader read_philly;

/// Job lists of Pollux (Qiao et al., OSDI 2021): submit_s, app, num_replicas in one or more lists by `set` and `file`.
/// They do not say how long jobs run: work is drawn, log-uniform, from the published class of GPU time of each
/// application (Table 1 there; a T4 is the reference): ImageNet 100 to 1000 GPU-hours, YOLOv3 10 to 100, DeepSpeech2
/// and BERT 1 to 10, CIFAR-10 and NCF below 1, taken as 0.1 to 1. A job runs that long divided by its replicas. Each
/// is of a user of its own; applications are projects.
/// ReadSettings::part: "set/file", or a set, whose files then follow one another; empty: the first set.
WorkloadReader read_pollux;

/// Pods of Alibaba's GPU cluster (Weng et al., USENIX ATC 2023): creation_s, scheduled_s, deletion_s, num_gpu,
/// cpu_milli, and where there are such: gpu_milli (thousandths that it takes of each GPU; else whole ones),
/// gpu_spec_33pct (GPU models that are allowed, "V100M16|V100M32"), qos. A pod is of the job type "gpu_pod", whose unit
/// is a hundredth of a GPU, rounded up: 470 of one GPU are 47 units, two GPUs are 200. Or it is of the job type
/// "cpu_pod" and takes whole cores. Unit types have the models' names. A quality-of-service class is a project.
WorkloadReader read_alibaba;

/// The synthetic workload of Gavel (Narayanan et al., OSDI 2020) from its table of training speeds, see
/// simulator/workloads/gavel.hpp.
WorkloadReader read_gavel;

/// Gavel's job lists: trace, job_type, total_steps, scale_factor, arrival_s. Speeds are those of `solo.csv`, which must
/// lie beside the file. ReadSettings::part: the trace of that name; empty: the first.
WorkloadReader read_gavel_trace;

/// The Alibaba cluster from its list of nodes: one center with a unit type for each GPU model, whose units are
/// hundredths of a GPU as in read_alibaba, and "cpu", the cores of nodes without GPUs. A pod may take hundredths of
/// several GPUs where in truth it needs them on one: free parts too small for anyone are not simulated. The set does
/// not tell how fast GPUs are: all run "gpu_pod" alike, and cores run "cpu_pod".
/// @error kNotFound  the file cannot be opened.
/// @error kInvalid   it is no such list; says which line.
Result<Network> read_alibaba_nodes(const std::filesystem::path& path);

} // namespace fathom::simulation
