#include "agent/config/staging_order.hpp"

namespace fathom::agent {

Json to_json(const StagingRule& rule)
{
    Json folders = Json::array();
    for (const std::filesystem::path& folder : rule.folders)
        folders.push_back(folder.string());
    return {{"takes_http", rule.takes_http}, {"folders", std::move(folders)}};
}

Result<StagingRule> read_staging_rule(const Json& json)
{
    // Our own words: a type error in them can only be damage, so one message for all of them will do.
    try {
        StagingRule rule{.takes_http = json.at("takes_http").get<bool>()};
        for (const std::string& folder : json.at("folders").get<std::vector<std::string>>())
            rule.folders.emplace_back(folder);
        return rule;
    } catch (const Json::exception& e) {
        return Error{Errc::kInvalid, std::string("not a rule for inputs: ") + e.what()};
    }
}

std::string encode(const StagingOrder& order)
{
    const Json json = {{"inputs", to_json(order.inputs)}, {"rule", to_json(order.rule)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<StagingOrder> decode_staging_order(const std::string& text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("rule")) return Error{Errc::kInvalid, "not an order to stage inputs"};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    StagingOrder order;
    order.inputs = parse_job_inputs(reader, errors);
    Result<StagingRule> rule = read_staging_rule(json["rule"]);
    if (!rule) return rule.error();
    order.rule = std::move(*rule);
    return value_or_errors(std::move(order), std::move(errors), "the order to stage inputs");
}

} // namespace fathom::agent
