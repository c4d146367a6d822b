#pragma once

#include "core/model/job.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How a job with steps is divided, and how far it is: decisions/0049-divided-jobs.md
namespace fathom {

/// What the programs of a part are predicted to take, with the 80 % interval.
struct PartRun {
    double run_s{};
    double low_s{};
    double high_s{};

    bool operator==(const PartRun&) const = default;
};

/// A part of a divided job: steps one after the other on one kind of device, which run as an attempt of their own.
struct JobPart {
    StepRange steps;
    double predicted_s{}; ///< as the division was decided by, with handing on what it does
    double passing_s{};   ///< of that, to hand it on
    // What came of it; empty until it has ended well.
    std::string attempt_id{};
    std::string place{};             ///< "alpha/core"
    std::optional<PartRun> placed{}; ///< what its placement predicted; empty, too, where that predicted nothing
    std::optional<Timestamp> started_at{};
    std::optional<Timestamp> ended_at{};
    std::optional<double> run_s{}; ///< of its programs
    std::optional<double> cost{};  ///< in the currency of the network; empty: nobody knows

    bool operator==(const JobPart&) const = default;
};

/// What is kept of a job with steps beside its specification, which is that of what runs now.
struct JobSteps {
    bool may_split{};
    Json items = Json::array(); ///< steps_json()
    Json division;              ///< why it is divided so, or not at all; null until that is decided
    std::vector<JobPart> parts; ///< empty: it runs whole
    std::size_t part{};         ///< index of the one that waits or runs
    std::string type;           ///< type_of_part() of it; empty: that of the job
    Json whole;                 ///< the specification that was submitted, where `parts` has taken its place; else null

    bool has_next() const { return part + 1 < parts.size(); }
};

/// Of a job that is being submitted.
JobSteps make_job_steps(const JobSpec& spec);

/// `{"split", "items", "division", "parts": [{"first_step", "step_count", "device", "predicted_s", "passing_s",
/// "attempt_id", "place", "placed": {"run_s", "low_s", "high_s"}, "started_at", "ended_at", "run_s", "cost"}], "part",
/// "type", "whole"}`, without type and `whole` where there are none.
Json to_json(const JobSteps& steps);
Json to_json(const PartRun& run);
/// @param json  of to_json(). @error kInvalid  it is none.
Result<JobSteps> parse_stored_steps(const Json& json);
/// Its `parts` alone; empty: they cannot be read.
std::optional<std::vector<JobPart>> parse_stored_parts(const Json& parts);

/// What the programs of all parts together are predicted to take: those that have a placement as that says, the others
/// as the division was decided by, whose figures have no interval.
/// @param part  whose turn it is. @param placed  what its placement predicts; empty: it has none.
PartRun predicted_run(std::span<const JobPart> parts, std::size_t part, const std::optional<PartRun>& placed);

/// The job as it was submitted. @param spec  its specification. @error kInvalid  it cannot be read.
Result<JobSpec> whole_of(const JobSteps& steps, const Json& spec);

/// The specification of the part whose turn it is: it ends by the deadline less what is predicted for the parts after
/// it, and may cost what earlier ones have left of the budget; its inputs lack what the part before hands on. Where
/// files of one center are handed on, all parts run at the center that the division was decided by.
/// @error kInfeasible  earlier parts have used up the budget.
Result<JobSpec> spec_of_part(const JobSpec& whole, const JobSteps& steps);

/// "part 2 of 3 (steps pack, solve, on GPU)"
std::string part_text(const JobSteps& steps, std::size_t part);

/// What is known of the runs of that part is kept under, beside those of the whole's type. Empty where that is.
std::string type_of_part(const std::string& job_type, const JobSteps& steps);

} // namespace fathom
