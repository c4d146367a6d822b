#include "core/model/job.hpp"

#include "core/base/utf8_prefix.hpp"
#include "core/model/preference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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
constexpr std::size_t kSecretsBytes = 65536;
constexpr std::size_t kMaxSecrets = 100;
constexpr std::size_t kMaxInputs = 1000;
constexpr double kMaxBytes = 1e18;
constexpr std::int64_t kMaxMemoryBytes = std::int64_t{1} << 60U;
constexpr std::int64_t kMaxGpuMemoryBytes = std::int64_t{1} << 42U; ///< of one GPU
constexpr std::size_t kMaxInstructionSets = 32;
constexpr std::size_t kMaxSites = 1000;
constexpr std::int64_t kMaxGangMembers = 1000;
constexpr double kWeightTolerance = 1e-6;

struct NamedPreference {
    std::string_view name;
    Preference preference;
};
constexpr std::array<NamedPreference, 3> kPreferences{{
    {"fastest", {.time = 1, .cost = 0, .energy = 0}},
    {"cheapest", {.time = 0, .cost = 1, .energy = 0}},
    {"greenest", {.time = 0, .cost = 0, .energy = 1}},
}};

/// Its name, where it is one of those with a name.
std::optional<std::string_view> name_of(const Preference& preference)
{
    for (const auto& [name, named] : kPreferences) {
        if (named.time == preference.time && named.cost == preference.cost && named.energy == preference.energy)
            return name;
    }
    return std::nullopt;
}

/// "0.5"
std::string format_weight(double weight)
{
    return Json(weight).dump();
}

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

/// A count and the limits of "auto"; limits that are not given make room for what is.
void parse_unit_count(ObjectReader& reader, UnitRequest& request, std::vector<FieldError>& errors)
{
    const Json* count = reader.any("count");
    if (count != nullptr && *count != Json("auto")) {
        const std::size_t before = errors.size();
        const std::int64_t value = reader.required_integer("count", 1, 1000000);
        if (errors.size() == before)
            request.count = value;
        else
            errors.back().detail += ", or \"auto\"";
    }
    request.min = reader.optional_integer("min", 1, 1000000).value_or(request.min);
    const std::int64_t least_max = std::max({request.max, request.min, request.count.value_or(1)});
    request.max = reader.optional_integer("max", 1, 1000000).value_or(least_max);
    if (request.min > request.max)
        reader.fail("max", "must not be below min");
    else if (request.count && (*request.count < request.min || *request.count > request.max))
        reader.fail("count", "is " + std::to_string(*request.count) + ", but min and max allow " +
                                 std::to_string(request.min) + " to " + std::to_string(request.max) +
                                 "; leave out min and max with a count of your own");
}

GpuMemoryRequest parse_gpu_memory(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    GpuMemoryRequest request;
    request.persistent_bytes = reader.required_integer("persistent_bytes", 0, kMaxGpuMemoryBytes);
    request.temporary_bytes = reader.optional_integer("temporary_bytes", 0, kMaxGpuMemoryBytes).value_or(0);
    reader.finish(UnknownFields::kReject);
    return request;
}

UnitRequest parse_unit_request(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitRequest request;
    request.type = reader.optional_string("type", {.min_length = 1, .max_length = 128}).value_or("any");
    request.device = reader.optional_string("device", {.one_of = {"cpu", "gpu"}}).value_or("");
    request.isa = reader.strings("isa", kMaxInstructionSets, {.min_length = 1, .max_length = 64});
    request.memory_bytes = reader.optional_integer("memory_bytes", 0, kMaxMemoryBytes).value_or(0);
    if (const Json* gpu_memory = reader.object("gpu_memory"))
        request.gpu_memory = parse_gpu_memory(*gpu_memory, reader.path_of("gpu_memory"), errors);
    if (request.device == "cpu" && request.gpu_memory.all_bytes() > 0)
        reader.fail("gpu_memory", "is of GPUs, but device is cpu");
    request.center = reader.optional_string("center", {.max_length = 128}).value_or("");
    parse_unit_count(reader, request, errors);
    request.ignore_knee = reader.optional_boolean("ignore_knee").value_or(false);
    if (reader.optional_string("sharing", {.one_of = {"allowed", "exclusive"}}) == "exclusive")
        request.sharing = UnitSharing::kExclusive;
    reader.finish(UnknownFields::kReject);
    return request;
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
            errors.push_back({"inputs[" + std::to_string(i) + "].path", "is the name of one of files"});
    }
}

/// The last part of a program's path; never empty, so that the job can be read again.
std::string default_name(const std::string& program)
{
    std::string name = program.substr(program.rfind('/') + 1);
    name.resize(utf8_prefix(name, kMaxJobNameBytes).size());
    return name.empty() ? "job" : name;
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

Json units_json(const UnitRequest& units)
{
    Json json = {
        {"type", units.type}, {"center", units.center}, {"count", units.count ? Json(*units.count) : Json("auto")},
        {"min", units.min},   {"max", units.max},       {"ignore_knee", units.ignore_knee}};
    if (!units.device.empty()) json["device"] = units.device;
    if (!units.isa.empty()) json["isa"] = units.isa;
    if (units.memory_bytes > 0) json["memory_bytes"] = units.memory_bytes;
    if (units.gpu_memory.all_bytes() > 0)
        json["gpu_memory"] = {{"persistent_bytes", units.gpu_memory.persistent_bytes},
                              {"temporary_bytes", units.gpu_memory.temporary_bytes}};
    if (units.is_exclusive()) json["sharing"] = to_string(units.sharing);
    return json;
}

} // namespace

double JobData::in_bytes() const
{
    double sum = 0;
    for (const DataInput& input : in)
        sum += input.bytes;
    return sum;
}

std::string_view to_string(UnitSharing sharing)
{
    return sharing == UnitSharing::kExclusive ? "exclusive" : "allowed";
}

std::string_view to_string(NetworkChoice choice)
{
    return choice == NetworkChoice::kNow ? "now" : "auto";
}

Preference parse_preference(const Json& json, std::vector<FieldError>& errors)
{
    if (json.is_string()) {
        for (const auto& [name, preference] : kPreferences) {
            if (json == name) return preference;
        }
    }
    if (!json.is_object()) {
        errors.push_back({"prefer", "must be \"fastest\", \"cheapest\" or \"greenest\", or weights that sum to 1, such "
                                    "as {\"time\": 0.7, \"cost\": 0.3}"});
        return {};
    }
    const std::size_t before = errors.size();
    ObjectReader reader(json, "prefer", errors);
    Preference weights;
    weights.time = reader.optional_number("time", 0, 1).value_or(0);
    weights.cost = reader.optional_number("cost", 0, 1).value_or(0);
    weights.energy = reader.optional_number("energy", 0, 1).value_or(0);
    reader.finish(UnknownFields::kReject);
    const double sum = weights.time + weights.cost + weights.energy;
    if (errors.size() == before && std::abs(sum - 1) > kWeightTolerance)
        errors.push_back({"prefer", "the weights of time, cost and energy must sum to 1, not " + format_weight(sum)});
    return weights;
}

Json to_json(const Preference& preference)
{
    if (const auto name = name_of(preference)) return *name;
    return {{"time", preference.time}, {"cost", preference.cost}, {"energy", preference.energy}};
}

std::string to_string(const Preference& preference)
{
    if (const auto name = name_of(preference)) return std::string(*name);
    std::string text;
    const auto add = [&](std::string_view name, double weight) {
        if (weight <= 0) return;
        if (!text.empty()) text += ", ";
        text += std::string(name) + " " + format_weight(weight);
    };
    add("time", preference.time);
    add("cost", preference.cost);
    add("energy", preference.energy);
    return text;
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
    spec.type = reader.optional_string("type", {.max_length = kMaxJobTypeBytes}).value_or("");
    spec.command = reader.strings("command", 1000, {.max_length = 65536});
    spec.script = reader.optional_string("script", {.max_length = kFilesBytes}).value_or("");
    spec.environment = parse_text_map(reader, "environment", 500, 32768, is_variable_name,
                                      "is not the name of an environment variable", errors);
    spec.secret_environment = parse_secrets(reader, errors);
    check_secret_names(spec, errors);
    spec.files = parse_text_map(reader, "files", 100, kFilesBytes, is_file_name,
                                "must be a plain file name (letters, digits, . _ -)", errors);
    spec.inputs = parse_job_inputs(reader, errors);
    check_input_paths(spec, errors);
    spec.outputs = parse_job_outputs(reader, errors);
    spec.software = parse_job_software(reader, errors);
    spec.operators = parse_job_operators(reader, errors);
    if (const Json* units = reader.object("units")) spec.units = parse_unit_request(*units, "units", errors);
    if (const Json* data = reader.object("data")) spec.data = parse_data(*data, "data", errors);
    const std::optional<std::string> network = reader.optional_string("network", {.one_of = {"auto", "now"}});
    spec.network = network == "now" ? NetworkChoice::kNow : NetworkChoice::kAuto;
    parse_choice(reader, spec, errors);
    check_center_of_data(spec, errors);
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
                    .value_or(default_name(has_command ? spec.command[0] : "script"));
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
