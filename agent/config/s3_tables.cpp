#include "agent/config/s3_tables.hpp"

#include "core/model/data_location.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxS3Rules = 1000;
constexpr std::size_t kMaxS3Prefixes = 100;
constexpr std::size_t kMaxS3Text = 1024;
constexpr std::size_t kMaxRegion = 64;

std::vector<std::string> read_s3_prefixes(ObjectReader& reader, const char* name)
{
    std::vector<std::string> prefixes =
        reader.strings(name, kMaxS3Prefixes, {.min_length = 1, .max_length = kMaxS3Text});
    for (const std::string& prefix : prefixes) {
        // As the URL of an object below it.
        const std::string below = prefix + (prefix.ends_with('/') ? "x" : "/x");
        const std::string problem = is_object_url(prefix) ? problem_of_url(below) : "must begin with s3://";
        if (!problem.empty()) reader.fail(name, "\"" + prefix + "\" " + problem);
    }
    return prefixes;
}

S3AccessRule read_s3_rule(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    S3AccessRule rule;
    rule.project = reader.required_string("project", {.min_length = 1, .max_length = kMaxS3Text});
    rule.read = read_s3_prefixes(reader, "read");
    rule.write = read_s3_prefixes(reader, "write");
    if (rule.read.empty() && rule.write.empty()) reader.fail("read", "or write must say what may be read or written");
    reader.finish(UnknownFields::kReject);
    return rule;
}

void check_s3_endpoint(ObjectReader& table, const std::string& endpoint)
{
    const bool has_scheme = endpoint.starts_with("https://") || endpoint.starts_with("http://");
    const std::string host = has_scheme ? endpoint.substr(endpoint.find("://") + 3) : "";
    if (!endpoint.empty() && (host.empty() || host.find_first_of("/?#@ ") != std::string::npos))
        table.fail("endpoint", "must be https://host or https://host:port");
}

} // namespace

S3Config read_s3(ObjectReader& reader, std::vector<FieldError>& errors)
{
    S3Config config;
    if (const Json* const json = reader.has("s3") ? reader.object("s3") : nullptr) {
        ObjectReader table(*json, "s3", errors);
        config.endpoint = table.required_string("endpoint", {.min_length = 1, .max_length = kMaxS3Text});
        check_s3_endpoint(table, config.endpoint);
        config.region = table.required_string("region", {.min_length = 1, .max_length = kMaxRegion});
        config.key_file = table.required_string("key_file", {.min_length = 1, .max_length = kMaxS3Text});
        config.jobs_may_read_key = table.optional_boolean("jobs_may_read_key").value_or(false);
        table.finish(UnknownFields::kReject);
    }
    const Json* const items = reader.has("s3_access") ? reader.array("s3_access", 1, kMaxS3Rules) : nullptr;
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i)
        config.access.push_back(read_s3_rule((*items)[i], "s3_access[" + std::to_string(i) + "]", errors));
    if (!config.access.empty() && !reader.has("s3"))
        errors.push_back({"s3_access", "is for a center with an [s3] table"});
    return config;
}

bool is_below_prefix(const std::string& url, const std::vector<std::string>& prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
        if (!url.starts_with(prefix)) return false;
        return prefix.ends_with('/') || url.size() == prefix.size() || url[prefix.size()] == '/';
    });
}

} // namespace fathom::agent
