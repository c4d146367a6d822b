#include "server/jobs/job_parts_end.hpp"

#include "core/model/job_parts.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::server {
namespace {

// An agent's word of what it keeps is believed as far as it is a number.
constexpr Statement kSelectPart{"jobs_select_part", R"sql(
    SELECT j.steps, j.spec, j.job_type, u.name AS unit_type, a.center_id, a.started_at, a.ended_at,
           p.run_s AS predicted_s, p.low_s, p.high_s,
           CASE WHEN jsonb_typeof(c.facts -> 'keeps_outputs_bytes') = 'number'
                THEN (c.facts ->> 'keeps_outputs_bytes')::float8 ELSE 0 END AS keeps_bytes
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN unit_type u ON u.id = a.unit_type_id
    JOIN center c ON c.id = a.center_id LEFT JOIN prediction p ON p.attempt_id = a.id
    WHERE a.id = $1)sql"};

constexpr Statement kUpdateEndedPart{"jobs_update_ended_part", "UPDATE job SET steps = $2::jsonb WHERE id = $1"};

// Its start stays that of its first part.
constexpr Statement kUpdateToNextPart{"jobs_update_to_next_part", R"sql(
    UPDATE job SET state = 'queued', version = version + 1, waiting_reason = '', steps = $2::jsonb, spec = $3::jsonb,
        state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = $1)sql"};

/// What the part that has ended stored for the next one, at the same paths.
std::vector<JobInput> handed_on(const pqxx::row& row, const AttemptJob& job, const AttemptEnd& end,
                                const std::vector<JobOutput>& outputs)
{
    std::vector<JobInput> inputs;
    for (const JobOutput& output : outputs) {
        JobInput input{output.url, output.path, {}, std::nullopt, "job:" + job.job_id.value + "/" + output.path, {}};
        const auto stored = std::find_if(end.outputs.begin(), end.outputs.end(),
                                         [&](const StoredOutput& one) { return one.path == output.path; });
        if (stored != end.outputs.end()) {
            input.sha256 = stored->sha256;
            input.size_bytes = stored->size_bytes;
            if (row["keeps_bytes"].as<double>() >= std::max(1.0, static_cast<double>(stored->size_bytes)))
                input.kept_at = {row["center_id"].as<std::string>()};
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

/// What came of the part by its attempt.
void keep_attempt(JobPart& part, const pqxx::row& row)
{
    part.started_at = to_optional_timestamp(row["started_at"]);
    part.ended_at = to_optional_timestamp(row["ended_at"]);
    if (row["predicted_s"].as<double>(0) > 0)
        part.placed = PartRun{row["predicted_s"].as<double>(), row["low_s"].as<double>(), row["high_s"].as<double>()};
}

double run_s_of(const JobSteps& steps)
{
    double sum = 0;
    for (const JobPart& part : steps.parts)
        sum += part.run_s.value_or(0);
    return sum;
}

NewJobEvent next_part_event(const AttemptJob& job, const AttemptEnd& end, const JobSteps& steps)
{
    NewJobEvent event;
    event.job_id = job.job_id;
    event.state = JobState::kQueued;
    event.cause = part_text(steps, steps.part - 1) + " has succeeded at center " + job.center + "; now " +
                  part_text(steps, steps.part);
    event.evidence = {{"attempt_id", end.attempt_id.value}, {"part", steps.part}};
    return event;
}

/// Has the job wait as the next part, which gets what this one handed on.
/// @error kInfeasible, kInvalid  why there is no next one: nothing was changed.
Result<NewJobEvent> go_on(pqxx::work& transaction, const pqxx::row& row, const AttemptJob& job, const AttemptEnd& end,
                          JobSteps steps)
{
    const Result<JobSpec> whole = whole_of(steps, to_json_value(row["spec"]));
    if (!whole) return whole.error();
    const StepRange& done = steps.parts[steps.part].steps;
    const std::vector<JobOutput>& outputs = whole->steps.at(done.first + done.count - 1).hands_on;
    ++steps.part;
    Result<JobSpec> next = spec_of_part(*whole, steps);
    if (!next) return next.error();
    std::vector<JobInput> inputs = handed_on(row, job, end, outputs);
    next->inputs.insert(next->inputs.end(), std::make_move_iterator(inputs.begin()),
                        std::make_move_iterator(inputs.end()));
    steps.type = type_of_part(row["job_type"].as<std::string>(), steps);
    exec(transaction, kUpdateToNextPart, job.job_id.value, to_json(steps).dump(), to_json(*next).dump());
    return next_part_event(job, end, steps);
}

} // namespace

EndedPart end_part(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end, double run_s,
                   std::optional<double> cost, JobEnding ending)
{
    const pqxx::row row = exec(transaction, kSelectPart, end.attempt_id.value)[0];
    Result<JobSteps> steps = parse_stored_steps(to_json_value(row["steps"]));
    // No end of an attempt may be refused for it: it would be told again for ever.
    if (!steps) return {std::nullopt, {JobState::kFailed, describe(steps.error())}, run_s};
    EndedPart ended{std::nullopt, std::move(ending), run_s_of(*steps) + run_s};
    const std::string text = part_text(*steps, steps->part);
    if (ended.ending.state != JobState::kSucceeded) {
        ended.ending.reason = text + ": " + ended.ending.reason;
        return ended;
    }
    JobPart& part = steps->parts[steps->part];
    part.attempt_id = end.attempt_id.value;
    part.place = job.center + "/" + row["unit_type"].as<std::string>();
    keep_attempt(part, row);
    part.run_s = run_s;
    part.cost = cost;
    if (steps->has_next() && !job.is_cancel_requested) {
        Result<NewJobEvent> next = go_on(transaction, row, job, end, *steps);
        if (next) {
            ended.goes_on = std::move(*next);
            return ended;
        }
        ended.ending = {JobState::kFailed, next.error().detail};
    } else if (steps->has_next()) {
        ended.ending = {JobState::kCancelled, "cancelled after " + text};
    }
    exec(transaction, kUpdateEndedPart, job.job_id.value, to_json(*steps).dump());
    return ended;
}

} // namespace fathom::server
