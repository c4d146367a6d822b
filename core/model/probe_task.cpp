#include "core/model/probe_task.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// The errors of a part under the path of that part.
void append_errors(std::vector<FieldError>& errors, const std::string& path, const Error& part)
{
    for (const FieldError& field : part.fields)
        errors.push_back({field.field.empty() ? path : path + "." + field.field, field.detail});
    if (part.fields.empty()) errors.push_back({path, part.detail});
}

/// Where each label stands; a repeated label is an error.
std::map<std::string, std::size_t> index_labels(const std::vector<OperatorUse>& uses, const std::string& path,
                                                std::vector<FieldError>& errors)
{
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (uses[i].label.empty()) continue;
        if (!places.emplace(uses[i].label, i).second)
            errors.push_back({path + "[" + std::to_string(i) + "].label", "stands there twice: " + uses[i].label});
    }
    return places;
}

/// Indices in an order of the data flow; shorter than `uses` when there is a cycle. Unknown labels do not count.
std::vector<std::size_t> flow_order(const std::vector<OperatorUse>& uses)
{
    std::vector<FieldError> ignored;
    const std::map<std::string, std::size_t> places = index_labels(uses, "", ignored);
    std::vector<bool> is_done(uses.size(), false);
    const auto is_ready = [&](const OperatorUse& use) {
        return std::all_of(use.inputs.begin(), use.inputs.end(), [&](const std::string& label) {
            const auto place = places.find(label);
            return place == places.end() || is_done[place->second];
        });
    };
    std::vector<std::size_t> order;
    for (bool found = true; found;) {
        found = false;
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (is_done[i] || !is_ready(uses[i])) continue;
            order.push_back(i);
            is_done[i] = found = true;
        }
    }
    return order;
}

} // namespace

bool is_same_step(const OperatorUse& a, const OperatorUse& b)
{
    return a.id == b.id && a.version == b.version && a.parameters == b.parameters && a.label == b.label &&
           a.inputs == b.inputs && a.remainder == b.remainder;
}

void check_data_flow(const std::vector<OperatorUse>& uses, const std::string& path, std::vector<FieldError>& errors)
{
    const std::size_t before = errors.size();
    const std::map<std::string, std::size_t> places = index_labels(uses, path, errors);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        for (const std::string& label : uses[i].inputs) {
            if (!places.contains(label))
                errors.push_back(
                    {path + "[" + std::to_string(i) + "].inputs", "there is no operator labelled " + label});
        }
    }
    if (errors.size() > before) return;
    const std::vector<std::size_t> order = flow_order(uses);
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (std::find(order.begin(), order.end(), i) == order.end())
            errors.push_back({path + "[" + std::to_string(i) + "].inputs", "computes on its own results: a cycle"});
    }
}

std::vector<std::size_t> data_flow_order(const std::vector<OperatorUse>& uses)
{
    std::vector<std::size_t> order = flow_order(uses);
    FATHOM_ASSERT(order.size() == uses.size());
    return order;
}

OperatorUse parse_operator_use(const Json& json, const std::string& path, std::vector<FieldError>& errors,
                               UnknownFields unknown)
{
    ObjectReader reader(json, path, errors);
    OperatorUse use;
    use.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    use.version = reader.optional_integer("version", 1, 1000000).value_or(0);
    if (const Json* parameters = reader.object("parameters"))
        use.parameters = parse_parameters(*parameters, reader.path_of("parameters"), errors);
    use.count = reader.optional_integer("count", 1, 1'000'000'000'000).value_or(1);
    use.label = reader.optional_string("label", {.min_length = 1, .max_length = 64}).value_or("");
    use.inputs = reader.strings("inputs", 16, {.min_length = 1, .max_length = 64});
    use.share = reader.optional_number("share", 0, 1);
    use.remainder =
        reader.optional_string("remainder", {.one_of = {"memory", "compute", "latency", "io"}}).value_or("");
    reader.finish(unknown);
    return use;
}

Json to_json(const OperatorUse& use)
{
    Json json = {{"id", use.id}, {"parameters", to_json(use.parameters)}, {"count", use.count}};
    if (use.version != 0) json["version"] = use.version;
    if (!use.label.empty()) json["label"] = use.label;
    if (!use.inputs.empty()) json["inputs"] = use.inputs;
    if (use.share) json["share"] = *use.share;
    if (!use.remainder.empty()) json["remainder"] = use.remainder;
    return json;
}

Result<ProbeTask> parse_probe_task(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    ProbeTask task;
    task.name = reader.required_string("name", {.min_length = 1, .max_length = 200});
    if (const Json* items = reader.array("operators", 1, kMaxNamedOperators)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            task.operators.push_back(parse_operator_use((*items)[i], "operators[" + std::to_string(i) + "]", errors));
        }
        check_data_flow(task.operators, "operators", errors);
    }
    task.repeats = reader.optional_integer("repeats", 1, 1000).value_or(task.repeats);
    task.target_interval = reader.optional_number("target_interval", 0, 1).value_or(task.target_interval);
    task.sample_budget_s = reader.optional_number("sample_budget_s", 0, 3600).value_or(task.sample_budget_s);
    task.seed = reader.optional_integer("seed", 0, kLargestSeed).value_or(task.seed);
    task.min_sample_s = reader.optional_number("min_sample_s", 0, 10).value_or(task.min_sample_s);
    task.limit_s = reader.optional_number("limit_s", 0.1, kMaxProbeLimit_s).value_or(task.limit_s);
    if (const Json* items = reader.array("manifests", 0, 64)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            Result<OperatorManifest> manifest = parse_operator_manifest((*items)[i]);
            if (manifest)
                task.manifests.push_back(std::move(*manifest));
            else
                append_errors(errors, "manifests[" + std::to_string(i) + "]", manifest.error());
        }
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(task), std::move(errors), "the probe task");
}

Json to_json(const ProbeTask& task)
{
    Json operators = Json::array();
    for (const OperatorUse& use : task.operators)
        operators.push_back(to_json(use));
    Json json = {{"name", task.name},
                 {"operators", std::move(operators)},
                 {"repeats", task.repeats},
                 {"target_interval", task.target_interval},
                 {"sample_budget_s", task.sample_budget_s},
                 {"seed", task.seed},
                 {"min_sample_s", task.min_sample_s},
                 {"limit_s", task.limit_s}};
    for (const OperatorManifest& manifest : task.manifests)
        json["manifests"].push_back(to_json(manifest));
    return json;
}

std::string operator_key(std::string_view id, const Parameters& parameters)
{
    return std::string(id) + "(" + parameters_key(parameters) + ")";
}

} // namespace fathom
