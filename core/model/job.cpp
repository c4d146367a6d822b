#include "core/model/job.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
constexpr std::size_t kMostInputs = 1000;
constexpr double kMostBytes = 1e18;

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

std::map<std::string, std::string> parse_text_map(ObjectReader& reader, std::string_view field, std::size_t max_items,
                                                  std::size_t max_value, bool (*is_name)(std::string_view),
                                                  std::string_view name_rule, std::vector<FieldError>& errors)
{
    std::map<std::string, std::string> values;
    const Json* json = reader.object(field);
    if (json == nullptr) return values;
    if (json->size() > max_items) {
        reader.fail(field, "must have at most " + std::to_string(max_items) + " entries");
        return values;
    }
    ObjectReader item(*json, reader.path_of(field), errors);
    for (const auto& [name, value] : json->items()) {
        if (!is_name(name)) item.fail(name, std::string(name_rule));
        values[name] = item.required_string(name, {.max_length = max_value});
    }
    return values;
}

UnitRequest parse_unit_request(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitRequest request;
    request.type = reader.optional_string("type", {.min_length = 1, .max_length = 128}).value_or("any");
    request.center = reader.optional_string("center", {.max_length = 128}).value_or("");
    request.min = reader.optional_integer("min", 1, 1000000).value_or(request.min);
    request.max = reader.optional_integer("max", 1, 1000000).value_or(std::max(request.max, request.min));
    if (request.min > request.max) reader.fail("max", "must not be below min");
    const Json* count = reader.any("count");
    if (count != nullptr && *count != Json("auto")) {
        const std::size_t before = errors.size();
        const std::int64_t value = reader.required_integer("count", 1, 1000000);
        if (errors.size() == before)
            request.count = value;
        else
            errors.back().detail += ", or \"auto\"";
    }
    request.ignore_knee = reader.optional_boolean("ignore_knee").value_or(false);
    reader.finish(UnknownFields::kReject);
    return request;
}

JobData parse_data(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    JobData data;
    if (const Json* items = reader.array("in", 0, kMostInputs)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            ObjectReader item((*items)[i], reader.path_of("in") + "[" + std::to_string(i) + "]", errors);
            DataInput input;
            input.url = item.optional_string("url", {.max_length = 4096}).value_or("");
            input.bytes = item.required_number("bytes", 0, kMostBytes);
            item.finish(UnknownFields::kReject);
            data.in.push_back(std::move(input));
        }
    }
    data.out_bytes = reader.optional_number("out_bytes", 0, kMostBytes).value_or(0);
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
    return {{"in", std::move(inputs)}, {"out_bytes", data.out_bytes}};
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
    spec.project = reader.optional_string("project", {.min_length = 1, .max_length = 128}).value_or(spec.project);
    spec.type = reader.optional_string("type", {.max_length = 200}).value_or("");
    spec.command = reader.strings("command", 1000, {.max_length = 65536});
    spec.script = reader.optional_string("script", {.max_length = kFilesBytes}).value_or("");
    spec.environment = parse_text_map(reader, "environment", 500, 32768, is_variable_name,
                                      "is not the name of an environment variable", errors);
    spec.files = parse_text_map(reader, "files", 100, kFilesBytes, is_file_name,
                                "must be a plain file name (letters, digits, . _ -)", errors);
    if (const Json* items = reader.array("operators", 0, 64)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            spec.operators.push_back(parse_operator_use((*items)[i], "operators[" + std::to_string(i) + "]", errors));
        }
        check_data_flow(spec.operators, "operators", errors);
    }
    if (const Json* units = reader.object("units")) spec.units = parse_unit_request(*units, "units", errors);
    if (const Json* data = reader.object("data")) spec.data = parse_data(*data, "data", errors);
    const std::optional<std::string> network = reader.optional_string("network", {.one_of = {"auto", "now"}});
    spec.network = network == "now" ? NetworkChoice::kNow : NetworkChoice::kAuto;
    spec.deadline = reader.optional_time("deadline");
    spec.profile = reader.optional_boolean("profile").value_or(false);
    spec.wall_limit_s = reader.optional_integer("wall_limit_s", 1, 31536000).value_or(spec.wall_limit_s);
    spec.metering_wait_s = reader.optional_integer("metering_wait_s", 0, 86400).value_or(spec.metering_wait_s);
    const bool has_command = !spec.command.empty();
    const bool has_script = !spec.script.empty();
    if (has_command == has_script) reader.fail("command", "give either a command or a script");
    if (has_command && spec.command[0].empty()) reader.fail("command[0]", "must not be empty");
    const std::string default_name = has_command ? spec.command[0].substr(spec.command[0].rfind('/') + 1) : "script";
    spec.name =
        reader.optional_string("name", {.min_length = 1, .max_length = 200}).value_or(default_name.substr(0, 200));
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(spec), std::move(errors), "the job");
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
                 {"units",
                  {{"type", spec.units.type},
                   {"center", spec.units.center},
                   {"count", spec.units.count ? Json(*spec.units.count) : Json("auto")},
                   {"min", spec.units.min},
                   {"max", spec.units.max},
                   {"ignore_knee", spec.units.ignore_knee}}},
                 {"data", data_json(spec.data)},
                 {"network", to_string(spec.network)},
                 {"profile", spec.profile},
                 {"wall_limit_s", spec.wall_limit_s},
                 {"metering_wait_s", spec.metering_wait_s}};
    if (spec.deadline) json["deadline"] = format_rfc3339(*spec.deadline);
    if (spec.command.empty())
        json["script"] = spec.script;
    else
        json["command"] = spec.command;
    return json;
}

} // namespace fathom
