#include "core/model/job.hpp"

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/model/job_input.hpp"
#include "core/model/job_output.hpp"
#include "core/model/job_software.hpp"
#include "core/model/job_step.hpp"
#include "core/model/money.hpp"
#include "core/model/name_limits.hpp"
#include "core/model/preference.hpp"
#include "core/model/probe_task.hpp"
#include "core/model/unit_request.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::array<std::pair<JobState, std::string_view>, 9> kStateNames{{
    {JobState::kQueued, "queued"},
    {JobState::kMetering, "metering"},
    {JobState::kPlaced, "placed"},
    {JobState::kDispatched, "dispatched"},
    {JobState::kRunning, "running"},
    {JobState::kSucceeded, "succeeded"},
    {JobState::kFailed, "failed"},
    {JobState::kCancelled, "cancelled"},
    {JobState::kLost, "lost"},
}};

constexpr std::size_t kFilesBytes = 1UL << 20U;
constexpr std::size_t kSecretsBytes = 65536;
constexpr std::size_t kMaxSecrets = 100;
constexpr std::size_t kMaxInputs = 1000;
constexpr double kMaxBytes = 1e18;
constexpr std::size_t kMaxSites = 1000;
constexpr std::int64_t kMaxGangMembers = 1000;

/// Names of the environment that the shell and the C library could misread.
bool is_variable_name(std::string_view name)
{
    if (name.empty() || name.size() > 256 || (name[0] >= '0' && name[0] <= '9')) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// A plain file name: no folder, nothing hidden.
bool is_file_name(std::string_view name)
{
    if (name.empty() || name.size() > 128 || name[0] == '.') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    });
}

/// What a field of texts by name may have.
struct TextMapRule {
    std::size_t max_items;
    std::size_t max_value; ///< bytes of each
    bool (*is_name)(std::string_view);
    std::string_view name_rule; ///< for people
};

std::map<std::string, std::string> parse_text_map(ObjectReader& reader, std::string_view field, const TextMapRule& rule,
                                                  std::vector<FieldError>& errors)
{
    std::map<std::string, std::string> values;
    const Json* json = reader.object(field);
    if (json == nullptr) return values;
    if (json->size() > rule.max_items) {
        reader.fail(field, "must have at most " + std::to_string(rule.max_items) + " entries");
        return values;
    }
    ObjectReader item(*json, reader.path_of(field), errors);
    for (const auto& [name, value] : json->items()) {
        if (!rule.is_name(name)) item.fail(name, std::string(rule.name_rule));
        values[name] = item.required_string(name, {.max_length = rule.max_value});
    }
    return values;
}

void check_secret_names(const JobSpec& spec, std::vector<FieldError>& errors)
{
    for (const auto& [name, value] : spec.secret_environment) {
        if (spec.environment.contains(name))
            errors.push_back({"secret_environment." + name, "stands in environment, too"});
    }
}

std::vector<OperatorUse> parse_job_operators(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<OperatorUse> operators;
    const Json* const items = reader.array("operators", 0, kMaxNamedOperators);
    if (items == nullptr) return operators;
    for (std::size_t i = 0; i < items->size(); ++i)
        operators.push_back(parse_operator_use((*items)[i], "operators[" + std::to_string(i) + "]", errors));
    check_data_flow(operators, "operators", errors);
    return operators;
}

std::map<std::string, std::optional<std::string>> parse_secrets(ObjectReader& reader, std::vector<FieldError>& errors)
{
    constexpr std::string_view kField = "secret_environment";
    std::map<std::string, std::optional<std::string>> values;
    const Json* json = reader.object(kField);
    if (json == nullptr) return values;
    if (json->size() > kMaxSecrets) {
        reader.fail(kField, "must have at most " + std::to_string(kMaxSecrets) + " entries");
        return values;
    }
    ObjectReader item(*json, reader.path_of(kField), errors);
    std::size_t bytes = 0;
    for (const auto& [name, value] : json->items()) {
        if (!is_variable_name(name)) item.fail(name, "is not the name of an environment variable");
        std::optional<std::string>& secret = values[name];
        if (!value.is_null()) secret = item.required_string(name, {.max_length = kSecretsBytes});
        bytes += name.size() + (secret ? secret->size() : 0);
    }
    if (bytes > kSecretsBytes)
        reader.fail(kField, "must have at most " + std::to_string(kSecretsBytes) + " bytes in all");
    return values;
}

JobData parse_data(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    JobData data;
    if (const Json* items = reader.array("in", 0, kMaxInputs)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            ObjectReader item((*items)[i], reader.path_of("in") + "[" + std::to_string(i) + "]", errors);
            DataInput input;
            input.url = item.optional_string("url", {.max_length = 4096}).value_or("");
            input.bytes = item.required_number("bytes", 0, kMaxBytes);
            item.finish(UnknownFields::kReject);
            data.in.push_back(std::move(input));
        }
    }
    if (data.in_bytes() > kMaxBytes) reader.fail("in", "is more than 1e18 bytes in all");
    data.out_bytes = reader.optional_number("out_bytes", 0, kMaxBytes).value_or(0);
    data.sites = reader.strings("sites", kMaxSites, {.min_length = 1, .max_length = 128});
    data.is_compressed = reader.optional_boolean("compressed").value_or(false);
    reader.finish(UnknownFields::kReject);
    return data;
}

Json data_json(const JobData& data)
{
    Json inputs = Json::array();
    for (const DataInput& input : data.in) {
        Json json = {{"bytes", input.bytes}};
        if (!input.url.empty()) json["url"] = input.url;
        inputs.push_back(std::move(json));
    }
    Json json = {{"in", std::move(inputs)}, {"out_bytes", data.out_bytes}};
    if (!data.sites.empty()) json["sites"] = data.sites;
    if (data.is_compressed) json["compressed"] = true;
    return json;
}

GangRequest parse_gang(const Json& json, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, "gang", errors);
    GangRequest gang;
    gang.id = reader.required_string("id", {.min_length = 1, .max_length = 128});
    gang.size = reader.required_integer("size", 2, kMaxGangMembers);
    reader.finish(UnknownFields::kReject);
    return gang;
}

/// Where a job may run, when both what it asks for and its data say so. A name cannot be compared with an id here; the
/// catalog tells later.
void check_center_of_data(const JobSpec& spec, std::vector<FieldError>& errors)
{
    const std::string& center = spec.units.center;
    const std::vector<std::string>& sites = spec.data.sites;
    if (center.empty() || sites.empty() || std::find(sites.begin(), sites.end(), center) != sites.end()) return;
    const auto is_id = [](const std::string& name) { return CenterId::parse(name).has_value(); };
    if (!std::all_of(sites.begin(), sites.end(), [&](const auto& site) { return is_id(site) == is_id(center); }))
        return;
    errors.push_back({"units.center", "is \"" + center +
                                          "\", which is not among data.sites; the job may only run where its data may "
                                          "be"});
}

/// Inputs are staged beside the job's files, and replace none.
void check_input_paths(const JobSpec& spec, std::vector<FieldError>& errors)
{
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
        const std::string& path = spec.inputs[i].path;
        const std::string first = path.substr(0, path.find('/'));
        if (spec.files.contains(first))
            errors.push_back({path_of_input(spec, i) + ".path", "is the name of one of files"});
    }
}

/// The last part of a program's path; never empty, so that the job can be read again.
std::string default_name(const std::string& program)
{
    std::string name = program.substr(program.rfind('/') + 1);
    name.resize(utf8_prefix(name, kMaxJobNameBytes).size());
    return name.empty() ? "job" : name;
}

/// What a job without a command is named after.
std::string program_of_script(const JobSpec& spec)
{
    return spec.steps.empty() || spec.steps[0].command.empty() ? "script" : spec.steps[0].command[0];
}

void parse_choice(ObjectReader& reader, JobSpec& spec, std::vector<FieldError>& errors)
{
    spec.deadline = reader.optional_time("deadline");
    if (const Json* budget = reader.object("budget")) {
        const std::size_t before = errors.size();
        spec.budget = parse_money(*budget, "budget", errors);
        if (errors.size() == before && spec.budget->micros == 0)
            errors.push_back({"budget.amount", "must be above 0: nothing that has a price could be used; leave out the "
                                               "budget for no limit"});
    }
    if (const Json* preference = reader.any("prefer")) spec.prefer = parse_preference(*preference, errors);
    spec.priority = reader.optional_integer("priority", -100, 100).value_or(0);
    if (const Json* gang = reader.object("gang")) spec.gang = parse_gang(*gang, errors);
}

} // namespace

double JobData::in_bytes() const
{
    double sum = 0;
    for (const DataInput& input : in)
        sum += input.bytes;
    return sum;
}

std::string_view to_string(NetworkChoice choice)
{
    return choice == NetworkChoice::kNow ? "now" : "auto";
}

std::string_view to_string(JobState state)
{
    return std::find_if(kStateNames.begin(), kStateNames.end(), [&](const auto& entry) { return entry.first == state; })
        ->second;
}

std::optional<JobState> parse_job_state(std::string_view text)
{
    for (const auto& [state, name] : kStateNames) {
        if (name == text) return state;
    }
    return std::nullopt;
}

bool is_final(JobState state)
{
    return state == JobState::kSucceeded || state == JobState::kFailed || state == JobState::kCancelled;
}

Result<JobSpec> parse_job_spec(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    JobSpec spec;
    spec.project =
        reader.optional_string("project", {.min_length = 1, .max_length = kMaxProjectNameBytes}).value_or(spec.project);
    spec.type = reader.optional_string("type", {.max_length = kMaxJobTypeBytes}).value_or("");
    spec.command = reader.strings("command", 1000, {.max_length = 65536});
    spec.script = reader.optional_string("script", {.max_length = kFilesBytes}).value_or("");
    spec.environment = parse_text_map(
        reader, "environment", {500, 32768, is_variable_name, "is not the name of an environment variable"}, errors);
    spec.secret_environment = parse_secrets(reader, errors);
    check_secret_names(spec, errors);
    spec.files =
        parse_text_map(reader, "files",
                       {100, kFilesBytes, is_file_name, "must be a plain file name (letters, digits, . _ -)"}, errors);
    spec.inputs = parse_job_inputs(reader, errors);
    spec.outputs = parse_job_outputs(reader, errors);
    spec.software = parse_job_software(reader, errors);
    spec.operators = parse_job_operators(reader, errors);
    read_steps(reader, spec, errors);
    check_input_paths(spec, errors);
    if (const Json* units = reader.object("units")) spec.units = parse_unit_request(*units, "units", errors);
    if (const Json* data = reader.object("data")) spec.data = parse_data(*data, "data", errors);
    const std::optional<std::string> network = reader.optional_string("network", {.one_of = {"auto", "now"}});
    spec.network = network == "now" ? NetworkChoice::kNow : NetworkChoice::kAuto;
    parse_choice(reader, spec, errors);
    check_center_of_data(spec, errors);
    check_steps(spec, errors);
    spec.profile = reader.optional_boolean("profile").value_or(false);
    spec.requeue = reader.optional_boolean("requeue").value_or(false);
    if (spec.requeue && spec.gang.size > 0)
        errors.push_back({"requeue", "a member of a gang cannot run again without the others"});
    spec.wall_limit_s = reader.optional_integer("wall_limit_s", 1, 31536000).value_or(spec.wall_limit_s);
    spec.metering_wait_s = reader.optional_integer("metering_wait_s", 0, 86400).value_or(spec.metering_wait_s);
    const bool has_command = !spec.command.empty();
    const bool has_script = !spec.script.empty();
    if (has_command == has_script) reader.fail("command", "give either a command or a script");
    if (has_command && spec.command[0].empty()) reader.fail("command[0]", "must not be empty");
    spec.name = reader.optional_string("name", {.min_length = 1, .max_length = kMaxJobNameBytes})
                    .value_or(default_name(has_command ? spec.command[0] : program_of_script(spec)));
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(spec), std::move(errors), "the job");
}

std::int64_t asked_limit_s(const JobSpec& spec)
{
    return spec.wall_limit_s == kUsualWallLimit_s ? 0 : spec.wall_limit_s;
}

Json to_json(const JobSpec& spec)
{
    Json operators = Json::array();
    for (const OperatorUse& use : spec.operators)
        operators.push_back(to_json(use));
    Json json = {{"name", spec.name},
                 {"project", spec.project},
                 {"type", spec.type},
                 {"environment", spec.environment},
                 {"files", spec.files},
                 {"operators", std::move(operators)},
                 {"units", units_json(spec.units)},
                 {"data", data_json(spec.data)},
                 {"network", to_string(spec.network)},
                 {"prefer", to_json(spec.prefer)},
                 {"priority", spec.priority},
                 {"profile", spec.profile},
                 {"requeue", spec.requeue},
                 {"wall_limit_s", spec.wall_limit_s},
                 {"metering_wait_s", spec.metering_wait_s}};
    for (const auto& [name, value] : spec.secret_environment)
        json["secret_environment"][name] = nullptr;
    if (!spec.inputs.empty()) json["inputs"] = to_json(spec.inputs);
    if (!spec.outputs.empty()) json["outputs"] = to_json(spec.outputs);
    add_json(json, spec.software);
    if (spec.deadline) json["deadline"] = format_rfc3339(*spec.deadline);
    if (spec.budget) json["budget"] = to_json(*spec.budget);
    if (spec.gang.size > 0) json["gang"] = {{"id", spec.gang.id}, {"size", spec.gang.size}};
    if (spec.command.empty())
        json["script"] = spec.script;
    else
        json["command"] = spec.command;
    return json;
}

std::string secrets_text(const JobSpec& spec)
{
    Json json = Json::object();
    for (const auto& [name, value] : spec.secret_environment) {
        if (value) json[name] = *value;
    }
    return json.empty() ? std::string() : json.dump();
}

Result<void> check_secrets_given(const JobSpec& spec)
{
    std::vector<FieldError> errors;
    for (const auto& [name, value] : spec.secret_environment) {
        if (!value) errors.push_back({"secret_environment." + name, "is not told again: give its value anew"});
    }
    if (errors.empty()) return {};
    return Error{Errc::kInvalid, "the job lacks values of its secret environment", std::move(errors)};
}

} // namespace fathom
