#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/job_output.hpp"

#include <cstddef>
#include <string>
#include <vector>

/// Steps that a job's owner names, and the parts that it is divided into by them (S7):
/// decisions/0049-divided-jobs.md
namespace fathom {

struct JobSpec;

/// A step of a job, one of those that run one after the other (job.yaml `steps`). Its operators stand among the job's,
/// after those of earlier steps; its inputs among the job's, by their paths.
struct StepSpec {
    std::string name;                 ///< unique in the job
    std::vector<std::string> command; ///< at least the program
    std::size_t operator_count{};     ///< at least 1
    std::vector<std::string> input_paths;
    /// What the next step finds at the same path; stored there only where that one runs on another kind of device.
    std::vector<JobOutput> hands_on;
    double out_bytes{}; ///< of what it hands on

    bool operator==(const StepSpec&) const = default;
};

/// Reads the fields `steps` and `split` of a job whose other fields are read, but not yet checked: the steps' operators
/// and inputs become the job's, and a script that runs the commands one after the other what it runs. Adds to `errors`
/// what is wrong.
void read_steps(ObjectReader& reader, JobSpec& spec, std::vector<FieldError>& errors);
/// Adds to `errors` what a job that may be divided must leave out, when all of its fields are read.
void check_steps(const JobSpec& spec, std::vector<FieldError>& errors);

/// Where the job's operator of this index stands in its document: "operators[2]", or "steps[1].operators[0]".
std::string path_of_operator(const JobSpec& spec, std::size_t index);
/// As path_of_operator(), of an input; of one that several steps name in the first of these.
std::string path_of_input(const JobSpec& spec, std::size_t index);

/// The steps as they were read, with operators and inputs as they stand in the job by now.
Json steps_json(const JobSpec& spec);

/// Steps one after the other on one kind of device.
struct StepRange {
    std::size_t first{}; ///< index of its first step
    std::size_t count{}; ///< at least 1
    std::string device;  ///< "cpu" or "gpu"

    bool operator==(const StepRange&) const = default;
};

/// The job that runs some steps of another one: their commands, operators and inputs on that kind of device. It stores
/// the outputs of the whole when it ends it, else what its last step hands on; its inputs lack what the step before
/// hands on. It has no steps.
JobSpec part_of(const JobSpec& whole, const StepRange& steps);

} // namespace fathom
