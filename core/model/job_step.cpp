#include "core/model/job_step.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/job.hpp"
#include "core/model/job_input.hpp"
#include "core/model/job_output.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxSteps = 64;
constexpr std::size_t kMaxStepNameBytes = 64;
constexpr std::size_t kMaxInputsOfPart = 64; ///< as of any job
constexpr std::size_t kMaxScriptBytes = 1UL << 20U;
constexpr double kMaxHandedBytes = 1e18;
constexpr const char* kInSteps = "stand in the steps: leave this out";

/// As one word of a shell.
std::string shell_word(std::string_view word)
{
    std::string text = "'";
    for (const char c : word) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

/// Runs the commands of these steps until one fails, and ends with its exit code.
std::string script_of(const std::vector<StepSpec>& steps, std::size_t first, std::size_t count)
{
    std::string script = "#!/bin/sh\n";
    for (std::size_t i = first; i < first + count; ++i) {
        std::string line;
        for (const std::string& word : steps[i].command)
            line += shell_word(word) + " ";
        script += line + "|| { code=$?; printf '%s\\n' " + shell_word("step " + steps[i].name + " failed") +
                  " >&2; exit $code; }\n";
    }
    return script;
}

/// Its operators as a list of their own, which refer to each other only.
void read_operators(ObjectReader& reader, JobSpec& spec, StepSpec& step, std::vector<FieldError>& errors)
{
    const Json* const items = reader.array("operators", 1, kMaxNamedOperators);
    if (items == nullptr) return;
    std::vector<OperatorUse> own;
    for (std::size_t i = 0; i < items->size(); ++i)
        own.push_back(
            parse_operator_use((*items)[i], reader.path_of("operators") + "[" + std::to_string(i) + "]", errors));
    check_data_flow(own, reader.path_of("operators"), errors);
    step.operator_count = own.size();
    spec.operators.insert(spec.operators.end(), std::make_move_iterator(own.begin()),
                          std::make_move_iterator(own.end()));
}

/// Several steps may name the same input.
void read_inputs(ObjectReader& reader, JobSpec& spec, StepSpec& step, std::vector<FieldError>& errors)
{
    std::vector<JobInput> own = parse_job_inputs(reader, errors);
    for (JobInput& input : own) {
        step.input_paths.push_back(input.path);
        const auto same = std::find_if(spec.inputs.begin(), spec.inputs.end(),
                                       [&](const JobInput& other) { return other.path == input.path; });
        if (same == spec.inputs.end())
            spec.inputs.push_back(std::move(input));
        else if (!(*same == input))
            reader.fail("inputs", "have another file at " + input.path + " than an earlier step");
    }
}

void read_handed(ObjectReader& reader, StepSpec& step, bool is_last, std::vector<FieldError>& errors)
{
    const Json* const items = reader.array("hands_on", 0, kMaxInputsOfPart);
    if (items != nullptr) {
        // As the outputs of a job, whose rules they keep.
        const Json outputs = {{"outputs", *items}};
        std::vector<FieldError> own;
        ObjectReader as_outputs(outputs, "", own);
        step.hands_on = parse_job_outputs(as_outputs, own);
        constexpr std::string_view kField = "outputs";
        for (const FieldError& error : own) {
            const std::string rest = error.field.starts_with(kField) ? error.field.substr(kField.size()) : error.field;
            errors.push_back({reader.path_of("hands_on") + rest, error.detail});
        }
    }
    for (const JobOutput& output : step.hands_on) {
        if (is_signed_by_center(output)) reader.fail("hands_on", "must be https, http or file URLs, not s3");
    }
    if (is_last && !step.hands_on.empty())
        reader.fail("hands_on", "the last step hands nothing on: name what it leaves in the job's outputs");
    if (step.hands_on.empty())
        step.out_bytes = reader.optional_number("out_bytes", 0, 0).value_or(0);
    else
        step.out_bytes = reader.required_number("out_bytes", 0, kMaxHandedBytes);
}

StepSpec read_step(const Json& json, const std::string& path, bool is_last, JobSpec& spec,
                   std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    StepSpec step;
    step.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxStepNameBytes});
    step.command = reader.strings("command", 1000, {.max_length = 65536});
    if (step.command.empty() || step.command[0].empty()) reader.fail("command", "must name a program");
    const bool is_taken = std::any_of(spec.steps.begin(), spec.steps.end(),
                                      [&](const StepSpec& other) { return other.name == step.name; });
    if (is_taken) reader.fail("name", "is that of an earlier step, too");
    read_operators(reader, spec, step, errors);
    read_inputs(reader, spec, step, errors);
    read_handed(reader, step, is_last, errors);
    reader.finish(UnknownFields::kReject);
    return step;
}

/// What is handed on lies in the working folder of the next part, beside its files and inputs; a whole job has the
/// inputs of all steps.
void check_files_together(const JobSpec& spec, std::vector<FieldError>& errors)
{
    if (!errors.empty()) return; // of single ones, which are said already
    for (std::size_t i = 0; i < spec.steps.size(); ++i) {
        const std::string field = "steps[" + std::to_string(i) + "].hands_on";
        std::vector<JobInput> inputs = spec.inputs;
        for (const JobOutput& output : spec.steps[i].hands_on) {
            if (spec.files.contains(output.path.substr(0, output.path.find('/'))))
                errors.push_back({field, output.path + " is the name of one of files"});
            inputs.push_back({output.url, output.path, {}, std::nullopt});
        }
        const Json together = {{"inputs", to_json(inputs)}};
        std::vector<FieldError> problems;
        ObjectReader reader(together, "", problems);
        parse_job_inputs(reader, problems);
        for (const FieldError& problem : problems)
            errors.push_back({field, "beside the inputs of all steps, " + problem.field + " " + problem.detail});
        if (!problems.empty()) return; // as of the other steps
    }
}

std::string item_path(const std::string& list, std::size_t index)
{
    return list + "[" + std::to_string(index) + "]";
}

} // namespace

std::string path_of_operator(const JobSpec& spec, std::size_t index)
{
    std::size_t first = 0;
    for (std::size_t i = 0; i < spec.steps.size(); ++i) {
        const std::size_t end = first + spec.steps[i].operator_count;
        if (index < end) return item_path(item_path("steps", i) + ".operators", index - first);
        first = end;
    }
    return item_path("operators", index);
}

std::string path_of_input(const JobSpec& spec, std::size_t index)
{
    const std::string& path = spec.inputs.at(index).path;
    for (std::size_t i = 0; i < spec.steps.size(); ++i) {
        const std::vector<std::string>& own = spec.steps[i].input_paths;
        const auto found = std::find(own.begin(), own.end(), path);
        if (found != own.end())
            return item_path(item_path("steps", i) + ".inputs", static_cast<std::size_t>(found - own.begin()));
    }
    return item_path("inputs", index);
}

void read_steps(ObjectReader& reader, JobSpec& spec, std::vector<FieldError>& errors)
{
    const std::optional<std::string> split = reader.optional_string("split", {.one_of = {"never", "allowed"}});
    spec.may_split = split == "allowed";
    if (reader.any("steps") == nullptr) {
        if (spec.may_split) reader.fail("split", "a job without steps cannot be divided");
        return;
    }
    const Json* const items = reader.array("steps", 2, kMaxSteps);
    if (items == nullptr) return;
    if (!spec.command.empty()) reader.fail("command", kInSteps);
    if (!spec.script.empty()) reader.fail("script", kInSteps);
    if (!spec.operators.empty()) reader.fail("operators", kInSteps);
    if (!spec.inputs.empty()) reader.fail("inputs", kInSteps);
    const std::string path = reader.path_of("steps");
    for (std::size_t i = 0; i < items->size(); ++i)
        spec.steps.push_back(
            read_step((*items)[i], path + "[" + std::to_string(i) + "]", i + 1 == items->size(), spec, errors));
    spec.command.clear();
    spec.script = script_of(spec.steps, 0, spec.steps.size());
    if (spec.script.size() > kMaxScriptBytes) reader.fail("steps", "have more than 1 MiB of commands in all");
    if (spec.operators.size() > kMaxNamedOperators)
        reader.fail("steps", "may have " + std::to_string(kMaxNamedOperators) + " operators in all");
    check_data_flow(spec.operators, path, errors); // labels are unique in the job
    check_files_together(spec, errors);
}

void check_steps(const JobSpec& spec, std::vector<FieldError>& errors)
{
    if (!spec.may_split) return;
    const UnitRequest& units = spec.units;
    const bool is_any_unit =
        units.type == "any" && units.device.empty() && units.isa.empty() && units.gpu_memory.all_bytes() == 0;
    if (!is_any_unit)
        errors.push_back({"units", "a job that may be divided runs on CPUs and GPUs: leave out type, device, isa and "
                                   "gpu_memory, or split"});
    if (spec.gang.size > 0) errors.push_back({"split", "a member of a gang cannot be divided"});
    if (spec.data.in_bytes() > 0 || spec.data.out_bytes > 0)
        errors.push_back({"data", "of a job that may be divided only sites may be named here: what its steps move are "
                                  "their inputs, and what they hand on"});
}

Json steps_json(const JobSpec& spec)
{
    Json all = Json::array();
    std::size_t first = 0;
    for (const StepSpec& step : spec.steps) {
        Json operators = Json::array();
        for (std::size_t i = first; i < first + step.operator_count; ++i)
            operators.push_back(to_json(spec.operators.at(i)));
        first += step.operator_count;
        std::vector<JobInput> inputs;
        for (const JobInput& input : spec.inputs) {
            if (std::find(step.input_paths.begin(), step.input_paths.end(), input.path) != step.input_paths.end())
                inputs.push_back(input);
        }
        Json json = {{"name", step.name}, {"command", step.command}, {"operators", std::move(operators)}};
        if (!inputs.empty()) json["inputs"] = to_json(inputs);
        if (!step.hands_on.empty()) {
            json["hands_on"] = to_json(step.hands_on);
            json["out_bytes"] = step.out_bytes;
        }
        all.push_back(std::move(json));
    }
    return all;
}

JobSpec part_of(const JobSpec& whole, const StepRange& steps)
{
    JobSpec part = whole;
    part.steps.clear();
    part.may_split = false;
    part.operators.clear();
    part.inputs.clear();
    part.units.device = steps.device;
    std::size_t first = 0;
    for (std::size_t i = 0; i < steps.first; ++i)
        first += whole.steps[i].operator_count;
    std::set<std::string> paths;
    for (std::size_t i = steps.first; i < steps.first + steps.count; ++i) {
        const StepSpec& step = whole.steps[i];
        for (std::size_t k = 0; k < step.operator_count; ++k)
            part.operators.push_back(whole.operators.at(first + k));
        first += step.operator_count;
        paths.insert(step.input_paths.begin(), step.input_paths.end());
    }
    std::copy_if(whole.inputs.begin(), whole.inputs.end(), std::back_inserter(part.inputs),
                 [&](const JobInput& input) { return paths.contains(input.path); });
    const std::size_t last = steps.first + steps.count - 1;
    if (last + 1 < whole.steps.size()) part.outputs = whole.steps[last].hands_on;
    if (steps.count == 1) {
        part.script.clear();
        part.command = whole.steps[last].command;
    } else {
        part.script = script_of(whole.steps, steps.first, steps.count);
    }
    return part;
}

} // namespace fathom
