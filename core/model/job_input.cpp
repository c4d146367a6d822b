#include "core/model/job_input.hpp"

#include "core/base/sha256.hpp"
#include "core/model/data_location.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr std::size_t kMaxStagedInputs = 64;
constexpr std::int64_t kMaxSizeBytes = std::int64_t{1} << 50U;

/// Whether both cannot be files: the same path, or one a folder of the other's.
bool collide(const std::string& a, const std::string& b)
{
    return a == b || a.starts_with(b + "/") || b.starts_with(a + "/");
}

JobInput parse_input(ObjectReader& item)
{
    const auto check = [&](std::string_view field, const std::string& problem) {
        if (!problem.empty()) item.fail(field, problem);
    };
    JobInput input;
    input.url = item.required_string("url", {.min_length = 1, .max_length = kMaxDataUrlBytes});
    if (!input.url.empty()) check("url", problem_of_url(input.url));
    input.path = item.required_string("path", {.min_length = 1, .max_length = kMaxDataPathBytes});
    if (!input.path.empty()) check("path", problem_of_path(input.path));
    input.sha256 = item.optional_string("sha256", {.max_length = kSha256Digits}).value_or("");
    if (!input.sha256.empty() && !is_sha256(input.sha256)) item.fail("sha256", "must be 64 lower-case hex digits");
    input.size_bytes = item.optional_integer("size_bytes", 0, kMaxSizeBytes);
    item.finish(UnknownFields::kReject);
    return input;
}

} // namespace

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
        Json json = {{"url", input.url}, {"path", input.path}};
        if (!input.sha256.empty()) json["sha256"] = input.sha256;
        if (input.size_bytes) json["size_bytes"] = *input.size_bytes;
        all.push_back(std::move(json));
    }
    return all;
}

} // namespace fathom
