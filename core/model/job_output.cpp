#include "core/model/job_output.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"
#include "core/model/data_location.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxOutputs = 64;
constexpr std::int64_t kMaxStoredBytes = std::int64_t{1} << 50U;

JobOutput parse_output(ObjectReader& item)
{
    JobOutput output;
    output.path = item.required_string("path", {.min_length = 1, .max_length = kMaxDataPathBytes});
    output.url = item.required_string("url", {.min_length = 1, .max_length = kMaxDataUrlBytes});
    const std::string path_problem = output.path.empty() ? "" : problem_of_path(output.path);
    if (!path_problem.empty()) item.fail("path", path_problem);
    std::string url_problem = output.url.empty() ? "" : problem_of_url(output.url);
    if (url_problem.empty() && output.url.starts_with("file://") && output.url.ends_with('/'))
        url_problem = "must name a file, not a folder";
    if (!url_problem.empty()) item.fail("url", url_problem);
    item.finish(UnknownFields::kReject);
    return output;
}

/// The place of the first with the same text; the size where there is none.
std::size_t find_same(const std::vector<JobOutput>& outputs, std::string JobOutput::* field, const std::string& text)
{
    const auto found =
        std::find_if(outputs.begin(), outputs.end(), [&](const JobOutput& other) { return other.*field == text; });
    return static_cast<std::size_t>(found - outputs.begin());
}

} // namespace

std::vector<JobOutput> parse_job_outputs(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<JobOutput> outputs;
    const Json* items = reader.array("outputs", 0, kMaxOutputs);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("outputs") + "[" + std::to_string(i) + "]", errors);
        JobOutput output = parse_output(item);
        const auto check_is_new = [&](std::string_view name, std::string JobOutput::* field) {
            const std::size_t same = find_same(outputs, field, output.*field);
            if (same < outputs.size() && !(output.*field).empty())
                item.fail(name, "is that of outputs[" + std::to_string(same) + "], too");
        };
        check_is_new("path", &JobOutput::path);
        check_is_new("url", &JobOutput::url);
        outputs.push_back(std::move(output));
    }
    return outputs;
}

Json to_json(const std::vector<JobOutput>& outputs)
{
    Json all = Json::array();
    for (const JobOutput& output : outputs)
        all.push_back({{"path", output.path}, {"url", output.url}});
    return all;
}

std::vector<StoredOutput> parse_stored_outputs(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<StoredOutput> outputs;
    const Json* items = reader.array("outputs", 0, kMaxOutputs);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("outputs") + "[" + std::to_string(i) + "]", errors);
        StoredOutput output;
        output.path = item.required_string("path", {.min_length = 1, .max_length = kMaxDataPathBytes});
        if (!output.path.empty() && !problem_of_path(output.path).empty())
            item.fail("path", problem_of_path(output.path));
        output.size_bytes = item.required_integer("size_bytes", 0, kMaxStoredBytes);
        output.sha256 = item.required_string("sha256", {.max_length = kSha256Digits});
        if (!is_sha256(output.sha256)) item.fail("sha256", "must be 64 lower-case hex digits");
        outputs.push_back(std::move(output));
    }
    return outputs;
}

Json to_json(const std::vector<StoredOutput>& outputs)
{
    Json all = Json::array();
    for (const StoredOutput& output : outputs)
        all.push_back({{"path", output.path}, {"size_bytes", output.size_bytes}, {"sha256", output.sha256}});
    return all;
}

} // namespace fathom
