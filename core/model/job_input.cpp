#include "core/model/job_input.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr std::size_t kMaxStagedInputs = 64;
constexpr std::size_t kMaxUrlBytes = 4096;
constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxNameBytes = 255; ///< of a file, as file systems have it
constexpr std::size_t kDigestDigits = 64;
constexpr std::int64_t kMaxSizeBytes = std::int64_t{1} << 50U;

bool has_sign_to_refuse(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

/// Between the scheme and the path; empty of file URLs.
std::string_view authority_of(std::string_view url)
{
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, std::min(url.find_first_of("/?#", begin), url.size()) - begin);
}

/// Empty, or what is wrong with it.
std::string problem_of_url(std::string_view url)
{
    if (has_sign_to_refuse(url)) return "must have no spaces and no control characters";
    if (url.starts_with("file://")) {
        if (!url.starts_with("file:///")) return "must name no host: file:///folder/name";
        if (url.find_first_of("?#%") != std::string_view::npos) return "must be a plain path, without %, ? and #";
        return (std::string(url) + "/").find("/../") == std::string::npos ? "" : "must have no .. in it";
    }
    if (!url.starts_with("https://") && !url.starts_with("http://"))
        return "must begin with https://, http:// or file:///";
    const std::string_view authority = authority_of(url);
    if (authority.find('@') != std::string_view::npos)
        return "must hold no user and password: sign the URL instead, as object stores do";
    return authority.empty() ? "names no host" : "";
}

/// Empty, or what is wrong with it.
std::string problem_of_path(std::string_view path)
{
    if (path.starts_with('/')) return "must be relative to the working folder";
    if (path.starts_with(kOwnFilePrefix)) return "must not begin with " + std::string(kOwnFilePrefix);
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view name = path.substr(begin, end - begin);
        if (name.empty() || name == "." || name == "..") return "must have no empty part, no . and no .. in it";
        if (name.size() > kMaxNameBytes) return "has a part of more than 255 bytes";
        begin = end + 1;
    }
    return std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; })
               ? "must have no control characters"
               : "";
}

bool is_digest(std::string_view text)
{
    return text.size() == kDigestDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

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
    input.url = item.required_string("url", {.min_length = 1, .max_length = kMaxUrlBytes});
    if (!input.url.empty()) check("url", problem_of_url(input.url));
    input.path = item.required_string("path", {.min_length = 1, .max_length = kMaxPathBytes});
    if (!input.path.empty()) check("path", problem_of_path(input.path));
    input.sha256 = item.optional_string("sha256", {.max_length = kDigestDigits}).value_or("");
    if (!input.sha256.empty() && !is_digest(input.sha256)) item.fail("sha256", "must be 64 lower-case hex digits");
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

std::string shown_url(std::string_view url)
{
    const std::size_t scheme = url.find("://");
    std::string shown(url.substr(0, url.find_first_of("?#")));
    if (scheme == std::string_view::npos || scheme >= shown.size()) return shown;
    const std::size_t begin = scheme + 3;
    const std::size_t host_end = std::min(shown.find('/', begin), shown.size());
    const std::size_t user_end = shown.substr(begin, host_end - begin).rfind('@');
    if (user_end != std::string::npos) shown.erase(begin, user_end + 1);
    return shown;
}

} // namespace fathom
