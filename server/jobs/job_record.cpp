#include "server/jobs/job_record.hpp"

#include "server/store/column.hpp"

namespace fathom::server {
namespace {

template <class T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json();
}

Json attempt_json(const AttemptRecord& attempt)
{
    return {{"id", attempt.id},
            {"epoch", attempt.epoch},
            {"center_id", attempt.center_id},
            {"center", attempt.center},
            {"unit_type_id", attempt.unit_type_id},
            {"unit_type", attempt.unit_type},
            {"unit_count", attempt.unit_count},
            {"state", attempt.state},
            {"outcome", text_or_null(attempt.outcome)},
            {"exit_code", or_null(attempt.exit_code)},
            {"signal", or_null(attempt.signal)},
            {"detail", attempt.detail},
            {"created_at", format_rfc3339(attempt.created_at)},
            {"dispatched_at", time_json(attempt.dispatched_at)},
            {"started_at", time_json(attempt.started_at)},
            {"ended_at", time_json(attempt.ended_at)},
            {"run_s", or_null(attempt.run_s)},
            {"cpu_s", or_null(attempt.cpu_s)},
            {"max_resident_bytes", or_null(attempt.max_resident_bytes)},
            {"stdout_bytes", or_null(attempt.stdout_bytes)},
            {"stderr_bytes", or_null(attempt.stderr_bytes)},
            {"output_removed_at", time_json(attempt.output_removed_at)},
            {"cpus", Json::parse(attempt.cpus)},
            {"units", Json::parse(attempt.units)},
            {"decided_by", attempt.decided_by}};
}

Json predicted_json(const PredictedRecord& predicted)
{
    return {{"run_s", or_null(predicted.run_s)},
            {"low_s", or_null(predicted.low_s)},
            {"high_s", or_null(predicted.high_s)},
            {"wait_s", or_null(predicted.wait_s)}};
}

Json without_spec(const JobRecord& job)
{
    return {{"id", job.id.value},
            {"label", job.label},
            {"name", job.name},
            {"project", job.project},
            {"type", job.job_type},
            {"operators_from", text_or_null(job.operators_from)},
            {"state", job.state},
            {"version", job.version},
            {"submitted_at", format_rfc3339(job.submitted_at)},
            {"submitted_by", job.submitted_by},
            {"state_changed_at", format_rfc3339(job.state_changed_at)},
            {"waiting_reason", job.waiting_reason},
            {"exit_code", or_null(job.exit_code)},
            {"end_reason", job.end_reason},
            {"started_at", time_json(job.started_at)},
            {"ended_at", time_json(job.ended_at)},
            {"run_s", or_null(job.run_s)},
            {"attempt", job.attempt ? attempt_json(*job.attempt) : Json()},
            {"predicted", job.predicted ? predicted_json(*job.predicted) : Json()}};
}

} // namespace

JobRecord make_job_record(JobId id, std::string label, const AdmittedJob& admitted, std::string submitted_by)
{
    JobRecord job;
    job.id = std::move(id);
    job.label = std::move(label);
    job.name = admitted.spec.name;
    job.project = admitted.spec.project;
    job.job_type = admitted.job_type;
    job.operators_from = admitted.operators_from;
    job.spec = to_json(admitted.spec).dump();
    job.secrets = secrets_text(admitted.spec);
    job.priority = admitted.spec.priority;
    job.gang = admitted.spec.gang.id;
    job.submitted_by = std::move(submitted_by);
    return job;
}

std::string job_text(const JobRecord& job)
{
    std::string text = without_spec(job).dump();
    text.pop_back();
    text += ",\"spec\":";
    text += job.spec;
    text += '}';
    return text;
}

Json to_json(const JobRecord& job)
{
    Json json = without_spec(job);
    json["spec"] = Json::parse(job.spec);
    return json;
}

} // namespace fathom::server
