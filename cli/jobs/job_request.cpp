#include "cli/jobs/job_request.hpp"

#include "cli/client/input_file.hpp"
#include "cli/operators/operator_argument.hpp"
#include "cli/text/choice_argument.hpp"
#include "core/base/parse_number.hpp"
#include "core/model/job.hpp"

namespace fathom::cli {
namespace {

/// Every error of every job of the list, their fields prefixed as the server does.
Result<void> check_job_list(const Json& jobs)
{
    if (jobs.empty() || jobs.size() > 1000) return Error{Errc::kInvalid, "a list must hold 1 to 1000 jobs"};
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const Result<JobSpec> spec = parse_job_spec(jobs[i]);
        if (spec) continue;
        const Error error = spec.error();
        for (const FieldError& field : error.fields)
            errors.push_back({"[" + std::to_string(i) + "]." + field.field, field.detail});
    }
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the jobs have " + std::to_string(errors.size()) + " errors", std::move(errors)};
}

Result<void> check_job(const Json& job)
{
    if (const Result<JobSpec> spec = parse_job_spec(job); !spec) return spec.error();
    return {};
}

/// Of what its place is chosen by.
bool has_choice_flags(const JobRequestOptions& options)
{
    return !options.budget.empty() || !options.prefer.empty() || options.priority || !options.device.empty() ||
           !options.isa.empty() || !options.sites.empty() || options.memory_bytes || options.gpu_persistent_bytes ||
           options.gpu_temporary_bytes || !options.sharing.empty() || !options.modules.empty() ||
           !options.container.empty();
}

bool has_flags(const JobRequestOptions& options)
{
    return !options.operators.empty() || !options.units.empty() || !options.unit_type.empty() ||
           !options.center.empty() || !options.name.empty() || !options.project.empty() || !options.type.empty() ||
           !options.environment.empty() || !options.secrets.empty() || options.profile || options.ignore_knee ||
           options.in_bytes || options.out_bytes || !options.network.empty() || !options.deadline.empty() ||
           has_choice_flags(options) || options.wall_limit_s || options.requeue || options.metering_wait_s ||
           !options.program.empty();
}

Result<Json> read_job_file(const JobRequestOptions& options, const Console& console)
{
    if (has_flags(options))
        return Error{Errc::kInvalid, "give either a job file, or flags and a program after --, not both"};
    Result<Json> json = read_input_file(options.file, console);
    if (!json) return json;
    const Result<void> checked = json->is_array() ? check_job_list(*json) : check_job(*json);
    if (!checked) return in_file(options.file, checked.error());
    return json;
}

Result<Json> units_request(const JobRequestOptions& options)
{
    Json units = Json::object();
    if (!options.unit_type.empty()) units["type"] = options.unit_type;
    if (!options.center.empty()) units["center"] = options.center;
    if (options.ignore_knee) units["ignore_knee"] = true;
    if (!options.device.empty()) units["device"] = options.device;
    if (!options.isa.empty()) units["isa"] = options.isa;
    if (options.memory_bytes) units["memory_bytes"] = *options.memory_bytes;
    if (options.gpu_persistent_bytes || options.gpu_temporary_bytes)
        units["gpu_memory"] = {{"persistent_bytes", options.gpu_persistent_bytes.value_or(0)},
                               {"temporary_bytes", options.gpu_temporary_bytes.value_or(0)}};
    if (!options.sharing.empty()) units["sharing"] = options.sharing;
    if (options.units == "auto") {
        units["count"] = "auto";
    } else if (!options.units.empty()) {
        const auto count = parse_number<std::int64_t>(options.units);
        if (!count || *count < 1)
            return Error{Errc::kInvalid, "--units \"" + options.units + "\" must be a number from 1 on, or auto"};
        units["count"] = *count;
    }
    return units;
}

Json data_request(const JobRequestOptions& options)
{
    Json data = Json::object();
    if (options.in_bytes) data["in"] = Json::array({{{"bytes", *options.in_bytes}}});
    if (options.out_bytes) data["out_bytes"] = *options.out_bytes;
    if (!options.sites.empty()) data["sites"] = options.sites;
    return data;
}

/// What stands before and after a sign of a pair; empty where there is no sign, or nothing before it.
std::optional<std::pair<std::string, std::string>> parted_at(const std::string& pair, std::size_t sign)
{
    if (sign == 0 || sign == std::string::npos) return std::nullopt;
    return std::pair(pair.substr(0, sign), pair.substr(sign + 1));
}

Result<Json> environment_request(const JobRequestOptions& options)
{
    Json environment = Json::object();
    for (const std::string& pair : options.environment) {
        const auto parts = parted_at(pair, pair.find('='));
        if (!parts) return Error{Errc::kInvalid, "--env \"" + pair + "\" must be NAME=VALUE"};
        environment[parts->first] = parts->second;
    }
    return environment;
}

Result<Json> inputs_request(const JobRequestOptions& options)
{
    Json inputs = Json::array();
    for (const std::string& pair : options.inputs) {
        const auto parts = parted_at(pair, pair.rfind('='));                  // a signed URL has others before
        if (!parts) return Error{Errc::kInvalid, "--input must be URL=PATH"}; // unsaid: it may hold a signature
        inputs.push_back({{"url", parts->first}, {"path", parts->second}});
    }
    return inputs;
}

Result<Json> outputs_request(const JobRequestOptions& options)
{
    Json outputs = Json::array();
    for (const std::string& pair : options.uploads) {
        const auto parts = parted_at(pair, pair.find('='));                    // a signed URL has others behind
        if (!parts) return Error{Errc::kInvalid, "--upload must be PATH=URL"}; // unsaid: it may hold a signature
        outputs.push_back({{"path", parts->first}, {"url", parts->second}});
    }
    return outputs;
}

/// Their values come from our own environment: an argument would be seen by all of the machine.
Result<Json> secrets_request(const JobRequestOptions& options, const Console& console)
{
    Json secrets = Json::object();
    for (const std::string& name : options.secrets) {
        const std::string value = console.environment(name.c_str());
        if (value.empty())
            return Error{Errc::kInvalid, "--secret-env " + name +
                                             ": there is no such variable here; set it, without "
                                             "writing its value into the history of your shell: read -rs " +
                                             name + "; export " + name};
        secrets[name] = value;
    }
    return secrets;
}

Result<Json> operators_request(const JobRequestOptions& options)
{
    Json operators = Json::array();
    for (const std::string& text : options.operators) {
        const Result<std::vector<OperatorUse>> uses = parse_operator_arguments(text, OperatorCount::kRequired);
        if (!uses) return uses.error();
        for (const OperatorUse& use : *uses)
            operators.push_back(to_json(use));
    }
    return operators;
}

/// Those that are passed on as they are.
void set_plain_options(Json& job, const JobRequestOptions& options)
{
    if (!options.name.empty()) job["name"] = options.name;
    if (!options.project.empty()) job["project"] = options.project;
    if (!options.type.empty()) job["type"] = options.type;
    if (options.profile) job["profile"] = true;
    if (!options.network.empty()) job["network"] = options.network;
    if (!options.deadline.empty()) job["deadline"] = options.deadline;
    if (!options.prefer.empty()) job["prefer"] = preference_of_argument(options.prefer);
    if (options.priority) job["priority"] = *options.priority;
    if (options.wall_limit_s) job["wall_limit_s"] = *options.wall_limit_s;
    if (options.requeue) job["requeue"] = true;
    if (!options.modules.empty()) job["modules"] = options.modules;
    if (!options.container.empty()) job["container"] = {{"image", options.container}};
    if (options.metering_wait_s) job["metering_wait_s"] = *options.metering_wait_s;
}

Result<Json> job_of_flags(const JobRequestOptions& options, const Console& console)
{
    if (options.program.empty())
        return Error{Errc::kInvalid, "nothing to run: give a job file, or a program with its arguments after --"};
    const Result<Json> operators = operators_request(options);
    if (!operators) return operators;
    const Result<Json> units = units_request(options);
    if (!units) return units;
    const Result<Json> environment = environment_request(options);
    if (!environment) return environment;
    const Result<Json> inputs = inputs_request(options);
    if (!inputs) return inputs;
    const Result<Json> outputs = outputs_request(options);
    if (!outputs) return outputs;
    const Result<Json> secrets = secrets_request(options, console);
    if (!secrets) return secrets;
    Json job{{"command", options.program}};
    const auto set = [&](const char* field, const Json& value) {
        if (!value.empty()) job[field] = value;
    };
    set("operators", *operators);
    set("units", *units);
    set("data", data_request(options));
    set("inputs", *inputs);
    set("outputs", *outputs);
    set("environment", *environment);
    set("secret_environment", *secrets);
    set_plain_options(job, options);
    if (!options.budget.empty()) {
        const Result<Json> budget = parse_budget_argument(options.budget);
        if (!budget) return budget;
        job["budget"] = *budget;
    }
    if (const Result<void> checked = check_job(job); !checked) return checked.error();
    return job;
}

} // namespace

Result<Json> make_job_request(const JobRequestOptions& options, const Console& console)
{
    return options.file.empty() ? job_of_flags(options, console) : read_job_file(options, console);
}

} // namespace fathom::cli
