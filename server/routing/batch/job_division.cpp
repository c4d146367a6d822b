#include "server/routing/batch/job_division.hpp"

#include "core/decide/prediction/job_split.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <span>
#include <utility>

namespace fathom::server {
namespace {

constexpr Statement kSelectSteps{"routing_select_job_steps", "SELECT steps, spec FROM job WHERE id = $1"};

// What its parts are made of was measured with the whole. What is stored of it counts for who submitted it.
constexpr Statement kUpdateDivided{"routing_update_divided", R"sql(
    WITH before AS (SELECT spec_bytes FROM job WHERE id = $1),
    divided AS (
        UPDATE job SET steps = $2::text::jsonb, spec = $3::text::jsonb, metered = true, version = version + 1,
                       waiting_reason = '', spec_bytes = octet_length($2::text) + octet_length($3::text)
        WHERE id = $1
        RETURNING submitted_by, project, spec_bytes)
    INSERT INTO stored_change (submitted_by, project, bytes)
    SELECT d.submitted_by, d.project, d.spec_bytes - b.spec_bytes FROM divided d, before b)sql"};

std::string cause_of(const JobSteps& steps)
{
    if (steps.parts.empty()) {
        const std::string reason = steps.division.value("reason", "");
        return reason.empty() ? "it runs whole: no division into its steps is better" : "it runs whole: " + reason;
    }
    return "it is divided: " + part_text(steps, 0) + " first";
}

/// By the centers that have places of both kinds for the whole.
JobSteps divide_by(const JobSpec& whole, JobSteps steps, std::span<const DeviceChoice> devices)
{
    const std::vector<JobStep> asked = steps_of(whole);
    std::vector<JobSplit> splits;
    splits.reserve(devices.size());
    for (const DeviceChoice& choice : devices)
        splits.push_back(split_job(asked, choice));
    JobSplit none;
    none.reason = "no center has both CPUs and GPUs for it";
    const JobSplit* best = best_split(splits);
    if (best == nullptr) best = splits.empty() ? &none : &splits.front();
    steps.division = to_json(*best, asked);
    steps.parts = parts_of(*best);
    steps.part = 0;
    return steps;
}

} // namespace

Result<UndividedJob> read_undivided_job(pqxx::work& transaction, const WaitingJob& job, const RouteRequest& request)
{
    const pqxx::row row = exec(transaction, kSelectSteps, job.id.value)[0];
    Json spec = to_json_value(row["spec"]);
    Result<JobSteps> steps = parse_stored_steps(to_json_value(row["steps"]));
    if (!steps) return steps.error();
    Result<JobSpec> submitted = whole_of(*steps, spec);
    if (!submitted) return submitted.error();
    return UndividedJob{job, request, std::move(*steps), std::move(spec), std::move(*submitted)};
}

Result<DecidedDivision> divide_job(const UndividedJob& undivided, const Decision& whole)
{
    const WaitingJob& job = undivided.job;
    Json spec = undivided.spec;
    JobSteps steps = divide_by(undivided.submitted, undivided.steps, whole.devices);
    if (!steps.parts.empty()) {
        const Result<JobSpec> first = spec_of_part(undivided.submitted, steps);
        if (!first) return first.error();
        steps.type = type_of_part(job.job_type, steps);
        steps.whole = std::exchange(spec, to_json(*first));
    }
    DecidedDivision division;
    division.job = {job.id, job.version};
    division.steps = to_json(steps).dump();
    division.spec = spec.dump();
    division.event.job_id = job.id;
    division.event.state = JobState::kQueued;
    division.event.cause = cause_of(steps);
    division.event.evidence = {{"division", steps.division}};
    return division;
}

void update_to_divided(pqxx::work& transaction, const DecidedDivision& division)
{
    exec(transaction, kUpdateDivided, division.job.id.value, division.steps, division.spec);
}

} // namespace fathom::server
