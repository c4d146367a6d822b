#include "agent/config/staging_order.hpp"

#include "core/model/data_location.hpp"

namespace fathom::agent {
namespace {

using Folders = std::vector<std::filesystem::path>;

Json names_of(const Folders& folders)
{
    Json names = Json::array();
    for (const std::filesystem::path& folder : folders)
        names.push_back(folder.string());
    return names;
}

Folders folders_of(const Json& names)
{
    const auto texts = names.get<std::vector<std::string>>();
    return {texts.begin(), texts.end()};
}

Json json_of(const std::map<std::string, S3Grant>& grants)
{
    Json all = Json::object();
    for (const auto& [key, grant] : grants)
        all[key] = {{"url", grant.url}, {"refusal", grant.refusal}};
    return all;
}

std::map<std::string, S3Grant> read_grants(const Json& json)
{
    std::map<std::string, S3Grant> grants;
    for (const auto& [key, grant] : json.items())
        grants[key] = {grant.at("url").get<std::string>(), grant.at("refusal").get<std::string>()};
    return grants;
}

} // namespace

std::string s3_grant_key(std::string_view method, const std::string& url)
{
    return std::string(method) + " " + url;
}

Result<std::string> transfer_url(const StagingRule& rule, std::string_view method, const std::string& url)
{
    if (!is_object_url(url)) return url;
    const auto grant = rule.s3.find(s3_grant_key(method, url));
    if (grant == rule.s3.end()) return Error{Errc::kInvalid, "this center's agent knows no s3:// URLs"};
    if (grant->second.url.empty()) return Error{Errc::kInvalid, grant->second.refusal};
    return grant->second.url;
}

Json to_json(const StagingRule& rule)
{
    return {{"takes_http", rule.takes_http},
            {"folders", names_of(rule.folders)},
            {"sends_http", rule.sends_http},
            {"output_folders", names_of(rule.output_folders)},
            {"s3", json_of(rule.s3)}};
}

Result<StagingRule> read_staging_rule(const Json& json)
{
    // Our own words: a type error in them can only be damage, so one message for all of them will do.
    try {
        return StagingRule{.takes_http = json.at("takes_http").get<bool>(),
                           .folders = folders_of(json.at("folders")),
                           .sends_http = json.value("sends_http", false), // older agents knew no outputs
                           .output_folders = folders_of(json.value("output_folders", Json::array())),
                           .s3 = read_grants(json.value("s3", Json::object()))};
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not a rule for inputs and outputs: ") + e.what()};
    }
}

void take_grants(StagingRule& rule, const std::string& renewed)
{
    const Json json = Json::parse(renewed, nullptr, false);
    if (!json.is_object()) return;
    Result<StagingRule> other = read_staging_rule(json);
    if (!other) return;
    for (auto& [key, grant] : other->s3)
        rule.s3.insert_or_assign(key, std::move(grant));
}

std::string encode(const StagingOrder& order)
{
    const Json json = {{"inputs", to_json(order.inputs)},
                       {"outputs", to_json(order.outputs)},
                       {"rule", to_json(order.rule)},
                       {"cached", order.cached},
                       {"cache_folder", order.cache_folder.string()}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<StagingOrder> decode_staging_order(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("rule")) return Error{Errc::kInvalid, "not a staging order"};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    StagingOrder order;
    order.inputs = parse_job_inputs(reader, errors);
    order.outputs = parse_job_outputs(reader, errors);
    Result<StagingRule> rule = read_staging_rule(json["rule"]);
    if (!rule) return rule.error();
    order.rule = std::move(*rule);
    try {
        order.cached = json.value("cached", std::map<std::string, int>());
        order.cache_folder = json.value("cache_folder", std::string()); // older agents named none
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not what the center has already: ") + e.what()};
    }
    return value_or_errors(std::move(order), std::move(errors), "the staging order");
}

} // namespace fathom::agent
