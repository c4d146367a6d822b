#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/device_choice.hpp"
#include "core/decide/prediction/split_steps.hpp"
#include "core/model/job_parts.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whether a job that its owner lets divide would better run in steps at a center, each a job of its own (S6, S7).
namespace fathom {

inline constexpr std::size_t kMaxJobSteps = 64;

/// A part of a job that may run by itself.
struct JobStep {
    std::string name;             ///< for people
    std::size_t operator_count{}; ///< of the job's operators, those after the operators of earlier steps
    double out_bytes{};           ///< what it hands to the next step; of the last one it is not read
};

/// Reads `[{"name", "operators": […], "out_bytes"}]`, 2 to 64 steps in the order in which they run, strictly; adds to
/// `errors` what is wrong. Only the last one may leave out_bytes out.
/// @param operators  gets the operators of all steps, in order, as they stand there; a job's reader checks them.
std::vector<JobStep> parse_job_steps(const Json& json, const std::string& path, Json& operators,
                                     std::vector<FieldError>& errors);

/// What S6 says of a job's steps at one center.
struct JobSplit {
    std::string center;
    std::string cpu_unit_type;     ///< name
    std::string gpu_unit_type;     ///< name
    std::vector<DeviceStep> steps; ///< on n units, the last one first; empty without an answer
    std::optional<SplitAnswer> answer;
    std::string reason; ///< why there is no answer, for people
};

/// Holds the steps against the whole by what was predicted for the job's operators on one unit type of each kind. A
/// step hands its result on by the center's way to the data site: it stores it there, and the next step fetches it.
/// There is no answer where an operator was not predicted on both, or that way is not known and something is handed on.
/// @param choice  of the job whose operators the steps hold.
JobSplit split_job(std::span<const JobStep> steps, const DeviceChoice& choice);

/// As that question has them.
std::vector<JobStep> steps_of(const JobSpec& spec);

/// The division of the least total; of equal ones the first. nullptr: none has an answer.
const JobSplit* best_split(std::span<const JobSplit> splits);

/// The parts in which it runs: steps one after the other on the same kind are one. Empty where it runs whole.
std::vector<JobPart> parts_of(const JobSplit& split);

/// `{"center", "cpu_unit_type", "gpu_unit_type", "run": "whole" | "steps" | null, "whole_on", "cpu_s", "gpu_s",
/// "total_s", "passing_s", "reason", "steps": [{"name", "cpu_s", "gpu_s", "run_on", "passing_s"}]}`
/// @param steps  those that the split was made of.
Json to_json(const JobSplit& split, std::span<const JobStep> steps);

} // namespace fathom
