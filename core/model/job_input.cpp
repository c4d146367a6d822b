#include "core/model/job_input.hpp"

#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"
#include "core/model/data_location.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxStagedInputs = 64;
constexpr std::int64_t kMaxSizeBytes = std::int64_t{1} << 50U;
constexpr std::size_t kMaxCenterIdBytes = 128;
constexpr std::size_t kMaxKeptAt = 1000;
constexpr std::string_view kJobScheme = "job:";

/// Whether both cannot be files: the same path, or one a folder of the other's.
bool collide(const std::string& a, const std::string& b)
{
    return a == b || a.starts_with(b + "/") || b.starts_with(a + "/");
}

/// Where it comes from: a URL, an output of a job, or that with a URL for where no copy is kept.
void parse_source(ObjectReader& item, JobInput& input)
{
    constexpr const char* kNoOutput = "must be job:ID/path, with the id of a job and the path of one of its outputs";
    input.from = item.optional_string("from", {.min_length = 1, .max_length = kMaxDataUrlBytes}).value_or("");
    const ObjectReader::StringRule rule{.min_length = 1, .max_length = kMaxDataUrlBytes};
    input.url = input.from.empty() ? item.required_string("url", rule) : item.optional_string("url", rule).value_or("");
    const char* field = "from";
    if (input.from.empty() && input.url.starts_with(kJobScheme)) {
        field = "url";
        std::swap(input.from, input.url);
    }
    if (!input.from.empty() && !parse_output_name(input.from)) item.fail(field, kNoOutput);
    if (const std::string problem = input.url.empty() ? "" : problem_of_url(input.url); !problem.empty())
        item.fail("url", problem);
    input.kept_at = item.strings("kept_at", kMaxKeptAt, {.min_length = 1, .max_length = kMaxCenterIdBytes});
    if (!input.kept_at.empty() && input.from.empty()) item.fail("kept_at", "is only of outputs of jobs");
}

JobInput parse_input(ObjectReader& item)
{
    const auto check = [&](std::string_view field, const std::string& problem) {
        if (!problem.empty()) item.fail(field, problem);
    };
    JobInput input;
    parse_source(item, input);
    input.path = item.required_string("path", {.min_length = 1, .max_length = kMaxDataPathBytes});
    if (!input.path.empty()) check("path", problem_of_path(input.path));
    input.sha256 = item.optional_string("sha256", {.max_length = kSha256Digits}).value_or("");
    if (!input.sha256.empty() && !is_sha256(input.sha256)) item.fail("sha256", "must be 64 lower-case hex digits");
    input.size_bytes = item.optional_integer("size_bytes", 0, kMaxSizeBytes);
    item.finish(UnknownFields::kReject);
    return input;
}

} // namespace

std::optional<OutputName> parse_output_name(std::string_view text)
{
    if (!text.starts_with(kJobScheme)) return std::nullopt;
    text.remove_prefix(kJobScheme.size());
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    std::optional<JobId> job = JobId::parse(text.substr(0, slash));
    const std::string_view path = text.substr(slash + 1);
    if (!job || path.empty() || path.size() > kMaxDataPathBytes || !problem_of_path(path).empty()) return std::nullopt;
    return OutputName{std::move(*job), std::string(path)};
}

std::string shown_source(const JobInput& input)
{
    return input.from.empty() ? shown_url(input.url) : input.from;
}

std::vector<JobInput> parse_job_inputs(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<JobInput> inputs;
    const Json* items = reader.array("inputs", 0, kMaxStagedInputs);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("inputs") + "[" + std::to_string(i) + "]", errors);
        JobInput input = parse_input(item);
        const auto other = std::find_if(inputs.begin(), inputs.end(), [&](const JobInput& before) {
            return !input.path.empty() && collide(before.path, input.path);
        });
        if (other != inputs.end())
            item.fail("path", "collides with that of inputs[" + std::to_string(other - inputs.begin()) + "]");
        inputs.push_back(std::move(input));
    }
    return inputs;
}

Json to_json(const std::vector<JobInput>& inputs)
{
    Json all = Json::array();
    for (const JobInput& input : inputs) {
        Json json = {{"path", input.path}};
        if (!input.url.empty()) json["url"] = input.url;
        if (!input.from.empty()) json["from"] = input.from;
        if (!input.kept_at.empty()) json["kept_at"] = input.kept_at;
        if (!input.sha256.empty()) json["sha256"] = input.sha256;
        if (input.size_bytes) json["size_bytes"] = *input.size_bytes;
        all.push_back(std::move(json));
    }
    return all;
}

} // namespace fathom
