#include "server/jobs/job_record.hpp"

#include "core/model/attempt_cause.hpp"
#include "server/store/column.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

template <class T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json();
}

Json queue_json(const AttemptRecord::CenterQueue& queue)
{
    return {{"reason", queue.reason},
            {"expected_start", time_json(queue.expected_start)},
            {"told_at", format_rfc3339(queue.told_at)}};
}

Json attempt_json(const AttemptRecord& attempt)
{
    Json json = {{"id", attempt.id},
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
                 {"center_queue", attempt.center_queue ? queue_json(*attempt.center_queue) : Json()},
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
                 {"outputs", Json::parse(attempt.outputs)},
                 {"staging", Json::parse(attempt.staging)},
                 {"decided_by", attempt.decided_by}};
    if (attempt.cause != to_string(AttemptCause::kNone)) json["cause"] = attempt.cause;
    if (!attempt.nodes.empty()) json["nodes"] = attempt.nodes;
    if (attempt.energy_j > 0) json["energy_j"] = attempt.energy_j;
    if (attempt.staged_so_far) json["staging_progress"] = to_json(*attempt.staged_so_far);
    return json;
}

Json predicted_json(const PredictedRecord& predicted)
{
    return {{"run_s", or_null(predicted.run_s)},
            {"low_s", or_null(predicted.low_s)},
            {"high_s", or_null(predicted.high_s)},
            {"wait_s", or_null(predicted.wait_s)}};
}

/// Writes members of an object as text, without the tree of the whole.
class ObjectText {
  public:
    explicit ObjectText(std::string& out) : out_(&out) { *out_ += '{'; }

    void add_raw(std::string_view name, std::string_view json)
    {
        *out_ += first_ ? "\"" : ",\"";
        first_ = false;
        *out_ += name;
        *out_ += "\":";
        *out_ += json;
    }
    void add(std::string_view name, const Json& value) { add_raw(name, value.dump()); }
    void add(std::string_view name, std::int64_t value) { add_raw(name, std::to_string(value)); }
    void add(std::string_view name, const std::string& text)
    {
        const bool is_plain =
            std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
        if (!is_plain) return add(name, Json(text));
        add_raw(name, "\"");
        *out_ += text;
        *out_ += '"';
    }
    void add_or_null(std::string_view name, const std::string& text)
    {
        if (text.empty())
            add_raw(name, "null");
        else
            add(name, text);
    }
    template <class T>
    void add(std::string_view name, const std::optional<T>& value)
    {
        if (value)
            add(name, *value);
        else
            add_raw(name, "null");
    }
    void add(std::string_view name, const std::optional<Timestamp>& time)
    {
        if (time)
            add(name, format_rfc3339(*time));
        else
            add_raw(name, "null");
    }
    void close() { *out_ += '}'; }

  private:
    std::string* out_;
    bool first_ = true;
};

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
    if (!admitted.spec.steps.empty()) job.steps = to_json(make_job_steps(admitted.spec)).dump();
    job.secrets = secrets_text(admitted.spec);
    job.priority = admitted.spec.priority;
    job.gang = admitted.spec.gang.id;
    job.submitted_by = std::move(submitted_by);
    return job;
}

std::string job_text(const JobRecord& job)
{
    std::string out;
    out.reserve(768 + job.spec.size() + job.steps.size());
    ObjectText text(out);
    text.add_raw("attempt", job.attempt ? attempt_json(*job.attempt).dump() : "null");
    text.add("end_reason", job.end_reason);
    text.add("ended_at", job.ended_at);
    text.add("exit_code", job.exit_code);
    text.add("id", job.id.value);
    text.add("label", job.label);
    text.add("name", job.name);
    text.add_or_null("operators_from", job.operators_from);
    text.add_raw("predicted", job.predicted ? predicted_json(*job.predicted).dump() : "null");
    text.add("project", job.project);
    text.add("run_s", or_null(job.run_s));
    text.add("started_at", job.started_at);
    text.add("state", job.state);
    text.add("state_changed_at", format_rfc3339(job.state_changed_at));
    if (!job.steps.empty()) text.add_raw("steps", job.steps);
    text.add("submitted_at", format_rfc3339(job.submitted_at));
    text.add("submitted_by", job.submitted_by);
    text.add("type", job.job_type);
    text.add("version", job.version);
    text.add("waiting_reason", job.waiting_reason);
    text.add_raw("spec", job.spec);
    text.close();
    return out;
}

} // namespace fathom::server
