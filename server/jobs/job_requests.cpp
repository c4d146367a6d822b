#include "server/jobs/job_requests.hpp"

#include <charconv>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxJobs = 1000;
constexpr std::size_t kMaxErrors = 100; ///< nobody reads more, and an answer must not be larger than its request

std::string value_of(const std::map<std::string, std::string>& values, const std::string& name)
{
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
}

Result<JobSpec> parse_new_job(const Json& json)
{
    Result<JobSpec> spec = parse_job_spec(json);
    if (!spec) return spec;
    if (const Result<void> given = check_secrets_given(*spec); !given) return given.error();
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

Result<JobFilter> parse_job_filter(const net::Request& request)
{
    std::vector<FieldError> errors;
    JobFilter filter;
    if (const std::string label = value_of(request.query, "label"); !label.empty()) filter.label = label;
    filter.state = value_of(request.query, "state");
    filter.project = value_of(request.query, "project");
    if (filter.label != "job" && filter.label != "probe" && filter.label != "all")
        errors.push_back({"label", "must be \"job\", \"probe\" or \"all\""});
    if (!filter.state.empty() && !parse_job_state(filter.state)) errors.push_back({"state", "is not a state of jobs"});
    if (filter.project.find('\0') != std::string::npos)
        errors.push_back({"project", "must not contain a NUL character"});
    return value_or_errors(std::move(filter), std::move(errors), "the query");
}

Result<LogRequest> parse_log_request(const net::Request& request)
{
    const std::optional<JobId> id = JobId::parse(value_of(request.path_params, "id"));
    if (!id) return Error{Errc::kNotFound, "there is no such job"};
    LogRequest log{.job = *id, .stream = value_of(request.path_params, "stream")};
    if (log.stream != "stdout" && log.stream != "stderr")
        return Error{Errc::kNotFound, "a job has the streams stdout and stderr"};
    std::vector<FieldError> errors;
    for (const auto& [name, value] : request.query) {
        if (name == "follow") {
            if (value == "true")
                log.until = LogRequest::Until::kJobEnds;
            else if (value != "false")
                errors.push_back({name, "must be true or false"});
        } else if (name == "offset_bytes") {
            const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), log.offset_bytes);
            if (ec != std::errc{} || end != value.data() + value.size() || log.offset_bytes < 0)
                errors.push_back({name, "must be a whole number of at least 0"});
        } else {
            errors.push_back({name, "is not a parameter of this request"});
        }
    }
    return value_or_errors(std::move(log), std::move(errors), "the query");
}

} // namespace fathom::server
