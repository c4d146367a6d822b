#include "core/decide/prediction/job_split.hpp"

#include "core/model/probe_task.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr double kMaxStepBytes = 1e18;
constexpr double kBytesPerGb = 1e9;

/// What the operators from `first` on take on one unit of each kind; empty where one is not predicted on both.
std::optional<DeviceTimes> times_of(const DeviceChoice& choice, std::size_t first, std::size_t count)
{
    DeviceTimes times;
    std::size_t found = 0;
    for (const OperatorDevice& one : choice.operators) {
        if (one.demand < first || one.demand >= first + count) continue;
        ++found;
        times.cpu_s += one.cpu_s;
        times.gpu_s += one.gpu_s;
        times.bytes += one.bytes;
    }
    return found == count ? std::optional(times) : std::nullopt;
}

/// The steps in the order in which they run; a JobSplit without answer says why they have no times.
std::vector<DeviceStep> time_steps(std::span<const JobStep> steps, const DeviceChoice& choice, JobSplit& split)
{
    std::vector<DeviceStep> timed;
    std::size_t first = 0;
    for (const JobStep& step : steps) {
        const std::optional<DeviceTimes> times = times_of(choice, first, step.operator_count);
        if (!times) {
            split.reason = "not all operators of step " + step.name + " are predicted on both kinds of unit";
            return {};
        }
        first += step.operator_count;
        const bool is_last = timed.size() + 1 == steps.size();
        const double bytes = is_last ? 0 : step.out_bytes;
        if (bytes > 0 && !(choice.terms.data_site_gb > 0)) {
            split.reason = "how fast step " + step.name + " hands its result on is not known: no transfer of the " +
                           "center was timed";
            return {};
        }
        const SpeedupAnswer answer = compare_devices(*times, choice.terms);
        // Out to the data site, and in from there.
        const double passing_s = bytes > 0 ? 2 * bytes / kBytesPerGb / choice.terms.data_site_gb : 0;
        timed.push_back({answer.cpu_s, answer.gpu_s, passing_s, std::nullopt});
    }
    return timed;
}

const char* name_of_kind(bool is_gpu)
{
    return is_gpu ? "GPU" : "CPU";
}

} // namespace

std::vector<JobStep> parse_job_steps(const Json& json, const std::string& path, Json& operators,
                                     std::vector<FieldError>& errors)
{
    operators = Json::array();
    if (!json.is_array() || json.size() < 2 || json.size() > kMaxJobSteps) {
        errors.push_back({path, "must be a list of 2 to " + std::to_string(kMaxJobSteps) + " steps"});
        return {};
    }
    std::vector<JobStep> steps;
    for (std::size_t i = 0; i < json.size(); ++i) {
        ObjectReader reader(json[i], path + "[" + std::to_string(i) + "]", errors);
        JobStep step;
        step.name = reader.required_string("name", {.min_length = 1, .max_length = 64});
        if (const Json* const own = reader.array("operators", 1, kMaxNamedOperators); own != nullptr) {
            step.operator_count = own->size();
            operators.insert(operators.end(), own->begin(), own->end());
        }
        const bool is_last = i + 1 == json.size();
        step.out_bytes = is_last ? reader.optional_number("out_bytes", 0, kMaxStepBytes).value_or(0)
                                 : reader.required_number("out_bytes", 0, kMaxStepBytes);
        reader.finish(UnknownFields::kReject);
        steps.push_back(std::move(step));
    }
    return steps;
}

JobSplit split_job(std::span<const JobStep> steps, const DeviceChoice& choice)
{
    JobSplit split;
    split.center = choice.center;
    split.cpu_unit_type = choice.cpu_unit_type;
    split.gpu_unit_type = choice.gpu_unit_type;
    split.steps = time_steps(steps, choice, split);
    if (split.steps.empty()) return split;
    // Readers stand before what they read.
    std::reverse(split.steps.begin(), split.steps.end());
    for (std::size_t i = 1; i < split.steps.size(); ++i)
        split.steps[i].reader = i - 1;
    split.answer = split_steps(split.steps, choice.terms.threshold);
    return split;
}

std::vector<JobStep> steps_of(const JobSpec& spec)
{
    std::vector<JobStep> steps;
    for (const StepSpec& step : spec.steps)
        steps.push_back({step.name, step.operator_count, step.out_bytes});
    return steps;
}

const JobSplit* best_split(std::span<const JobSplit> splits)
{
    const JobSplit* best = nullptr;
    for (const JobSplit& split : splits) {
        if (!split.answer) continue;
        if (best == nullptr || split.answer->total_s < best->answer->total_s) best = &split;
    }
    return best;
}

std::vector<JobPart> parts_of(const JobSplit& split)
{
    std::vector<JobPart> parts;
    if (!split.answer || !split.answer->runs_as_steps) return parts;
    const std::size_t count = split.steps.size();
    for (std::size_t step = 0; step < count; ++step) {
        const std::size_t index = count - 1 - step; // the last one stands first
        const PlacedStep& placed = split.answer->steps[index];
        const char* const device = placed.runs_on_gpu ? "gpu" : "cpu";
        if (parts.empty() || parts.back().steps.device != device)
            parts.push_back({.steps = {step, 0, device}, .predicted_s = 0});
        ++parts.back().steps.count;
        const double own_s = placed.runs_on_gpu ? split.steps[index].gpu_s : split.steps[index].cpu_s;
        parts.back().predicted_s += own_s + placed.passing_s;
        parts.back().passing_s += placed.passing_s;
    }
    return parts;
}

Json to_json(const JobSplit& split, std::span<const JobStep> steps)
{
    Json json = {{"center", split.center},
                 {"cpu_unit_type", split.cpu_unit_type},
                 {"gpu_unit_type", split.gpu_unit_type},
                 {"run", nullptr},
                 {"reason", split.reason},
                 {"steps", Json::array()}};
    for (const char* field : {"whole_on", "cpu_s", "gpu_s", "total_s", "passing_s"})
        json[field] = nullptr;
    if (!split.answer) return json;
    const SplitAnswer& answer = *split.answer;
    json["run"] = answer.runs_as_steps ? "steps" : "whole";
    json["whole_on"] = name_of_kind(answer.whole_runs_on_gpu);
    json["cpu_s"] = answer.cpu_s;
    json["gpu_s"] = answer.gpu_s;
    json["total_s"] = answer.total_s;
    json["passing_s"] = answer.passing_s;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::size_t index = steps.size() - 1 - i;
        json["steps"].push_back({{"name", steps[i].name},
                                 {"cpu_s", split.steps[index].cpu_s},
                                 {"gpu_s", split.steps[index].gpu_s},
                                 {"run_on", name_of_kind(answer.steps[index].runs_on_gpu)},
                                 {"passing_s", answer.steps[index].passing_s}});
    }
    return json;
}

} // namespace fathom
