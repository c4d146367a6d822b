#include "core/model/probe_task.hpp"

namespace fathom {

OperatorUse parse_operator_use(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorUse use;
    use.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    use.version = reader.optional_integer("version", 1, 1000000).value_or(0);
    if (const Json* parameters = reader.object("parameters"))
        use.parameters = parse_parameters(*parameters, reader.path_of("parameters"), errors);
    use.count = reader.optional_integer("count", 1, 1'000'000'000'000).value_or(1);
    reader.finish(UnknownFields::kReject);
    return use;
}

Json to_json(const OperatorUse& use)
{
    Json json = {{"id", use.id}, {"parameters", to_json(use.parameters)}, {"count", use.count}};
    if (use.version != 0) json["version"] = use.version;
    return json;
}

Result<ProbeTask> parse_probe_task(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    ProbeTask task;
    task.name = reader.required_string("name", {.min_length = 1, .max_length = 200});
    if (const Json* items = reader.array("operators", 1, 64)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            task.operators.push_back(parse_operator_use((*items)[i], "operators[" + std::to_string(i) + "]", errors));
        }
    }
    task.repeats = reader.optional_integer("repeats", 1, 1000).value_or(task.repeats);
    task.min_sample_s = reader.optional_number("min_sample_s", 0, 10).value_or(task.min_sample_s);
    task.limit_s = reader.optional_number("limit_s", 0.1, 3600).value_or(task.limit_s);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(task), std::move(errors), "the probe task");
}

Json to_json(const ProbeTask& task)
{
    Json operators = Json::array();
    for (const OperatorUse& use : task.operators)
        operators.push_back(to_json(use));
    return {{"name", task.name},
            {"operators", std::move(operators)},
            {"repeats", task.repeats},
            {"min_sample_s", task.min_sample_s},
            {"limit_s", task.limit_s}};
}

std::string operator_key(std::string_view id, const Parameters& parameters)
{
    return std::string(id) + "(" + parameters_key(parameters) + ")";
}

} // namespace fathom
