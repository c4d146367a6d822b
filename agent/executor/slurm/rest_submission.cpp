#include "agent/executor/slurm/rest_submission.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace fathom::agent {
namespace {

constexpr std::string_view kBatchMark = "#SBATCH --";
constexpr std::int64_t kMaxOptionCount = 1'000'000'000;

std::optional<Json> count_of(std::string_view text)
{
    const auto value = parse_number<std::int64_t>(text);
    if (!value || *value < 1 || *value > kMaxOptionCount) return std::nullopt;
    return Json(*value);
}

/// `90:30`, minutes and seconds, in whole minutes: a job may run as long as it says.
std::optional<Json> minutes_of(std::string_view text)
{
    const std::vector<std::string_view> parts = split_text(text, ':');
    if (parts.size() != 2) return std::nullopt;
    const auto minutes = parse_number<std::int64_t>(parts[0]);
    const auto seconds = parse_number<std::int64_t>(parts[1]);
    if (!minutes || !seconds || *minutes < 0 || *minutes > kMaxOptionCount || *seconds < 0 || *seconds > 59)
        return std::nullopt;
    return Json(*minutes + (*seconds > 0 ? 1 : 0));
}

std::optional<Json> value_of(std::string_view name, std::string_view text)
{
    if (name == "ntasks" || name == "cpus-per-task") return count_of(text);
    if (name == "mem-per-cpu") return text.ends_with('M') ? count_of(text.substr(0, text.size() - 1)) : std::nullopt;
    if (name == "time") return minutes_of(text);
    if (name == "nodes") {
        const std::optional<Json> count = count_of(text);
        return count ? std::optional(Json::array({*count, *count})) : std::nullopt;
    }
    if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"')) text = text.substr(1, text.size() - 2);
    if (text.empty() || text.find('"') != std::string_view::npos) return std::nullopt;
    return Json(std::string(text));
}

/// A job's property by sbatch's name for it; empty: no such option is used.
std::string_view property_of(std::string_view option)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kProperties{{
        {"account", "account"},
        {"chdir", "current_working_directory"},
        {"comment", "comment"},
        {"constraint", "constraints"},
        {"cpus-per-task", "cpus_per_task"},
        {"error", "standard_error"},
        {"gpus-per-task", "gpus_per_task"},
        {"gres", "gres"},
        {"input", "standard_input"},
        {"job-name", "name"},
        {"mem-per-cpu", "memory_per_cpu"},
        {"nodes", "nodes"},
        {"ntasks", "tasks"},
        {"open-mode", "open_mode"},
        {"output", "standard_output"},
        {"partition", "partition"},
        {"qos", "qos"},
    }};
    if (option == "time") return "time_limit";
    const auto* const found = std::find_if(kProperties.begin(), kProperties.end(),
                                           [&](const auto& property) { return property.first == option; });
    return found == kProperties.end() ? std::string_view() : found->second;
}

Result<void> add_option(Json& job, std::string_view line)
{
    const std::string_view option = line.substr(kBatchMark.size());
    // v0.0.38 takes `requeue` for true whatever its value is. Without it the cluster's JobRequeue counts.
    if (option == "no-requeue") return {};
    const std::size_t sign = std::min(option.find('='), option.size());
    const std::string_view property = property_of(option.substr(0, sign));
    std::optional<Json> value;
    if (!property.empty() && sign < option.size()) value = value_of(option.substr(0, sign), option.substr(sign + 1));
    if (!value) return Error{Errc::kInvalid, "slurmrestd has nothing for \"" + std::string(line) + "\""};
    job[std::string(property)] = std::move(*value);
    return {};
}

} // namespace

Result<Json> rest_submission(std::string_view script)
{
    if (!is_utf8(script)) return Error{Errc::kInvalid, "slurmrestd takes UTF-8 only, which this job's script is not"};
    Json job = {{"environment", {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}}};
    // As sbatch has it, options end at the first line that is none: an empty one, in batch_script().
    const std::vector<std::string_view> lines = split_text(script, '\n');
    for (std::size_t i = 1; i < lines.size() && lines[i].starts_with(kBatchMark); ++i) {
        if (const Result<void> added = add_option(job, lines[i]); !added) return added.error();
    }
    return Json{{"script", std::string(script)}, {"job", std::move(job)}};
}

} // namespace fathom::agent
