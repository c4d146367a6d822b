#include "core/model/job_parts.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/model/job.hpp"
#include "core/model/job_output.hpp"
#include "core/model/job_step.hpp"
#include "core/model/money.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxParts = 64;
constexpr std::size_t kNameBytes = 40; ///< of a step's name in the type of its part
constexpr double kMaxLater_s = 1e9;
constexpr double kMaxPartNumber = 1e18;

Json part_json(const JobPart& part)
{
    Json json = {{"first_step", part.steps.first},
                 {"step_count", part.steps.count},
                 {"device", part.steps.device},
                 {"predicted_s", part.predicted_s},
                 {"passing_s", part.passing_s},
                 {"attempt_id", nullptr},
                 {"place", nullptr},
                 {"placed", nullptr},
                 {"started_at", nullptr},
                 {"ended_at", nullptr},
                 {"run_s", nullptr},
                 {"cost", nullptr}};
    if (!part.attempt_id.empty()) json["attempt_id"] = part.attempt_id;
    if (!part.place.empty()) json["place"] = part.place;
    if (part.placed) json["placed"] = to_json(*part.placed);
    if (part.started_at) json["started_at"] = format_rfc3339(*part.started_at);
    if (part.ended_at) json["ended_at"] = format_rfc3339(*part.ended_at);
    if (part.run_s) json["run_s"] = *part.run_s;
    if (part.cost) json["cost"] = *part.cost;
    return json;
}

std::optional<PartRun> parse_placed(ObjectReader& part, const std::string& path, std::vector<FieldError>& errors)
{
    const Json* const json = part.object("placed");
    if (json == nullptr) return std::nullopt;
    ObjectReader reader(*json, path + ".placed", errors);
    PartRun run;
    run.run_s = reader.required_number("run_s", 0, kMaxPartNumber);
    run.low_s = reader.required_number("low_s", 0, kMaxPartNumber);
    run.high_s = reader.required_number("high_s", 0, kMaxPartNumber);
    return run;
}

/// What an earlier version stored has no times, nor what its placement predicted.
JobPart parse_part(const Json& json, const std::string& path, std::size_t step_count, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    JobPart part;
    const auto most = static_cast<std::int64_t>(step_count);
    part.steps.first = static_cast<std::size_t>(reader.required_integer("first_step", 0, most));
    part.steps.count = static_cast<std::size_t>(reader.required_integer("step_count", 1, most));
    if (part.steps.first + part.steps.count > step_count) reader.fail("step_count", "is beyond the last step");
    part.steps.device = reader.required_string("device", {.one_of = {"cpu", "gpu"}});
    part.predicted_s = reader.required_number("predicted_s", 0, kMaxPartNumber);
    part.passing_s = reader.optional_number("passing_s", 0, kMaxPartNumber).value_or(0);
    part.attempt_id = reader.optional_string("attempt_id", {}).value_or("");
    part.place = reader.optional_string("place", {}).value_or("");
    part.placed = parse_placed(reader, path, errors);
    part.started_at = reader.optional_time("started_at");
    part.ended_at = reader.optional_time("ended_at");
    part.run_s = reader.optional_number("run_s", 0, kMaxPartNumber);
    part.cost = reader.optional_number("cost", 0, kMaxPartNumber);
    return part;
}

std::vector<JobPart> parse_parts(const Json& parts, std::size_t step_count, std::vector<FieldError>& errors)
{
    std::vector<JobPart> parsed;
    for (std::size_t i = 0; i < parts.size(); ++i)
        parsed.push_back(parse_part(parts[i], "parts[" + std::to_string(i) + "]", step_count, errors));
    return parsed;
}

double later_s(const JobSteps& steps)
{
    double sum = 0;
    for (std::size_t i = steps.part + 1; i < steps.parts.size(); ++i)
        sum += steps.parts[i].predicted_s;
    return std::min(sum, kMaxLater_s);
}

/// Whether a part finds what it reads at one center only.
bool stays_at_center(const JobSpec& whole, const JobSteps& steps)
{
    return std::any_of(steps.parts.begin(), steps.parts.end(), [&](const JobPart& part) {
        const std::size_t last = part.steps.first + part.steps.count - 1;
        if (last + 1 == whole.steps.size()) return false;
        const std::vector<JobOutput>& handed = whole.steps[last].hands_on;
        return std::any_of(handed.begin(), handed.end(),
                           [](const JobOutput& output) { return output.url.starts_with("file:"); });
    });
}

std::string step_name(const JobSteps& steps, std::size_t step)
{
    return step < steps.items.size() ? steps.items[step].value("name", "") : std::string();
}

} // namespace

JobSteps make_job_steps(const JobSpec& spec)
{
    JobSteps steps;
    steps.may_split = spec.may_split;
    steps.items = steps_json(spec);
    return steps;
}

Json to_json(const JobSteps& steps)
{
    Json parts = Json::array();
    for (const JobPart& part : steps.parts)
        parts.push_back(part_json(part));
    Json json = {{"split", steps.may_split ? "allowed" : "never"},
                 {"items", steps.items},
                 {"division", steps.division},
                 {"parts", std::move(parts)},
                 {"part", steps.part}};
    if (!steps.type.empty()) json["type"] = steps.type;
    if (!steps.whole.is_null()) json["whole"] = steps.whole;
    return json;
}

Result<JobSteps> parse_stored_steps(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    JobSteps steps;
    steps.may_split = reader.required_string("split", {.one_of = {"never", "allowed"}}) == "allowed";
    if (const Json* items = reader.array("items", 2, kMaxParts)) steps.items = *items;
    if (const Json* division = reader.object("division")) steps.division = *division;
    if (const Json* parts = reader.array("parts", 0, kMaxParts))
        steps.parts = parse_parts(*parts, steps.items.size(), errors);
    const auto last = static_cast<std::int64_t>(steps.parts.empty() ? 0 : steps.parts.size() - 1);
    steps.part = static_cast<std::size_t>(reader.required_integer("part", 0, last));
    steps.type = reader.optional_string("type", {}).value_or("");
    if (const Json* whole = reader.object("whole")) steps.whole = *whole;
    return value_or_errors(std::move(steps), std::move(errors), "the steps of the job");
}

Json to_json(const PartRun& run)
{
    return {{"run_s", run.run_s}, {"low_s", run.low_s}, {"high_s", run.high_s}};
}

std::optional<std::vector<JobPart>> parse_stored_parts(const Json& parts)
{
    if (!parts.is_array()) return std::nullopt;
    std::vector<FieldError> errors;
    std::vector<JobPart> parsed = parse_parts(parts, kMaxParts, errors);
    return errors.empty() ? std::optional(std::move(parsed)) : std::nullopt;
}

PartRun predicted_run(std::span<const JobPart> parts, std::size_t part, const std::optional<PartRun>& placed)
{
    PartRun sum;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double divided_s = std::max(0.0, parts[i].predicted_s - parts[i].passing_s);
        const std::optional<PartRun>& known = parts[i].placed || i != part ? parts[i].placed : placed;
        const PartRun one = known.value_or(PartRun{divided_s, divided_s, divided_s});
        sum.run_s += one.run_s;
        sum.low_s += one.low_s;
        sum.high_s += one.high_s;
    }
    return sum;
}

Result<JobSpec> whole_of(const JobSteps& steps, const Json& spec)
{
    Json document = steps.whole.is_null() ? spec : steps.whole;
    for (const char* field : {"command", "script", "operators", "inputs"})
        document.erase(field);
    document["split"] = steps.may_split ? "allowed" : "never";
    document["steps"] = steps.items;
    return parse_job_spec(document);
}

Result<JobSpec> spec_of_part(const JobSpec& whole, const JobSteps& steps)
{
    JobSpec part = part_of(whole, steps.parts.at(steps.part).steps);
    if (stays_at_center(whole, steps)) part.units.center = steps.division.value("center", part.units.center);
    if (part.deadline)
        *part.deadline -=
            std::chrono::duration_cast<Timestamp::duration>(std::chrono::duration<double>(later_s(steps)));
    if (!part.budget) return part;
    for (std::size_t i = 0; i < steps.part; ++i)
        part.budget->micros -= to_micros(steps.parts[i].cost.value_or(0));
    if (part.budget->micros > 0) return part;
    return Error{Errc::kInfeasible, "its budget of " + format_amount(whole.budget->micros) + " " +
                                        whole.budget->currency + " is used up before " + part_text(steps, steps.part)};
}

std::string part_text(const JobSteps& steps, std::size_t part)
{
    const StepRange& range = steps.parts.at(part).steps;
    std::string names;
    for (std::size_t i = range.first; i < range.first + range.count; ++i)
        names += (names.empty() ? "" : ", ") + step_name(steps, i);
    return "part " + std::to_string(part + 1) + " of " + std::to_string(steps.parts.size()) +
           (range.count == 1 ? " (step " : " (steps ") + names + ", on " + (range.device == "gpu" ? "GPU" : "CPU") +
           ")";
}

std::string type_of_part(const std::string& job_type, const JobSteps& steps)
{
    if (job_type.empty()) return {};
    const StepRange& range = steps.parts.at(steps.part).steps;
    const auto name = [&](std::size_t step) { return std::string(utf8_prefix(step_name(steps, step), kNameBytes)); };
    std::string type = std::string(utf8_prefix(job_type, kMaxJobTypeBytes / 2)) + " / " + name(range.first);
    if (range.count > 1) type += " to " + name(range.first + range.count - 1);
    return type;
}

} // namespace fathom
