#include "server/jobs/job_requests.hpp"

namespace fathom::server {
namespace {

constexpr std::size_t kMaxJobs = 1000;
constexpr std::size_t kMaxErrors = 100; ///< nobody reads more, and an answer must not be larger than its request
// The router has thousands of waiting jobs in memory at once, each with what it is decided by: a job's share of that
// must be small. 64 operators with their sizes take about 8 KiB.
constexpr std::size_t kMaxOperatorsBytes = 16UL << 10U;
constexpr std::size_t kMaxSitesBytes = 8UL << 10U;

void check_size(const Json& part, std::size_t most_bytes, const std::string& field, std::vector<FieldError>& errors)
{
    const std::size_t bytes = part.dump().size();
    if (bytes > most_bytes)
        errors.push_back(
            {field, "has " + std::to_string(bytes) + " bytes as JSON, of at most " + std::to_string(most_bytes)});
}

bool has_steps(const Json& json)
{
    return json.contains("steps") && json["steps"].is_array();
}

/// The job's own, or those of all of its steps.
Json operators_of(const Json& json)
{
    Json all = Json::array();
    if (!has_steps(json)) return json.contains("operators") ? json["operators"] : all;
    for (const Json& step : json["steps"])
        all.insert(all.end(), step["operators"].begin(), step["operators"].end());
    return all;
}

/// Of a job that has been read.
Result<void> check_sizes(const Json& json)
{
    std::vector<FieldError> errors;
    check_size(operators_of(json), kMaxOperatorsBytes, has_steps(json) ? "steps" : "operators", errors);
    if (json.contains("data") && json["data"].contains("sites"))
        check_size(json["data"]["sites"], kMaxSitesBytes, "data.sites", errors);
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the job has more to decide by than is taken", std::move(errors)};
}

/// Else a job would run for a week, and could not store what it has made.
Result<void> check_signed_time(const JobSpec& spec)
{
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < spec.outputs.size() && spec.wall_limit_s > kMaxWallLimitOfSigned_s; ++i) {
        if (is_signed_by_center(spec.outputs[i]))
            errors.push_back(
                {"outputs[" + std::to_string(i) + "].url",
                 "of s3:// needs a wall_limit_s of " + std::to_string(kMaxWallLimitOfSigned_s) +
                     " (6 days and 23 hours) at most: no signature for it is good for longer than 7 days"});
    }
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the job could not store its outputs when it has ended", std::move(errors)};
}

Result<JobSpec> parse_new_job(const Json& json)
{
    Result<JobSpec> spec = parse_job_spec(json);
    if (!spec) return spec;
    if (const Result<void> small = check_sizes(json); !small) return small.error();
    if (const Result<void> given = check_secrets_given(*spec); !given) return given.error();
    if (const Result<void> stored = check_signed_time(*spec); !stored) return stored.error();
    return spec;
}

} // namespace

Result<SubmitRequest> parse_submit_request(const Json& body)
{
    SubmitRequest request;
    if (!body.is_array()) {
        Result<JobSpec> spec = parse_new_job(body);
        if (!spec) return spec.error();
        request.specs.push_back(std::move(*spec));
        return request;
    }
    request.batch = JobsService::Batch::kMany;
    std::vector<FieldError> errors;
    if (body.empty() || body.size() > kMaxJobs) errors.push_back({"", "must have 1 to 1000 jobs"});
    for (std::size_t i = 0; i < body.size() && body.size() <= kMaxJobs && errors.size() <= kMaxErrors; ++i) {
        Result<JobSpec> spec = parse_new_job(body[i]);
        if (spec) {
            request.specs.push_back(std::move(*spec));
            continue;
        }
        const Error error = spec.error();
        for (const FieldError& field : error.fields)
            errors.push_back({"[" + std::to_string(i) + "]." + field.field, field.detail});
    }
    if (errors.size() > kMaxErrors) {
        errors.resize(kMaxErrors);
        errors.push_back({"", "there are more errors than are listed here"});
    }
    return value_or_errors(std::move(request), std::move(errors), "the array of jobs");
}

JobFilter job_filter_of(const Query& query)
{
    JobFilter filter;
    if (const std::string label = query_text(query, "label"); !label.empty()) filter.label = label;
    filter.state = query_text(query, "state");
    filter.project = query_text(query, "project");
    filter.center = query_text(query, "center");
    filter.unit_type = query_text(query, "unit_type");
    filter.job_type = query_text(query, "type");
    filter.submitted_by = query_text(query, "submitted_by");
    filter.name_prefix = query_text(query, "name");
    // What else they may be, the contract has refused.
    if (const Result<Timestamp> after = parse_rfc3339(query_text(query, "submitted_after")))
        filter.submitted_after = *after;
    if (const Result<Timestamp> before = parse_rfc3339(query_text(query, "submitted_before")))
        filter.submitted_before = *before;
    filter.order = parse_job_order(query_text(query, "sort")).value_or(filter.order);
    return filter;
}

Result<LogRequest> parse_log_request(const net::Request& request)
{
    const std::optional<JobId> id = JobId::parse(query_text(request.path_params, "id"));
    if (!id) return Error{Errc::kNotFound, "there is no such job"};
    LogRequest log{.job = *id, .stream = query_text(request.path_params, "stream")};
    if (log.stream != "stdout" && log.stream != "stderr")
        return Error{Errc::kNotFound, "a job has the streams stdout and stderr"};
    if (query_flag(request.query, "follow").value_or(false)) log.until = LogRequest::Until::kEnd;
    log.offset_bytes = query_integer(request.query, "offset_bytes").value_or(log.offset_bytes);
    return log;
}

} // namespace fathom::server
