#include "core/model/operator_manifest.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/portable_math.hpp"
#include "core/base/result.hpp"
#include "core/model/formula.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::size_t kMaxIdLength = 64;
constexpr std::int64_t kLargestParameter = 1LL << 40U;

bool is_identifier(std::string_view text)
{
    if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

OperatorParameter parse_parameter(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorParameter parameter;
    parameter.name = reader.required_string("name", {.min_length = 1, .max_length = 32});
    if (!parameter.name.empty() && !is_identifier(parameter.name))
        reader.fail("name", "must be lower-case letters, digits and _, starting with a letter");
    parameter.min = reader.required_integer("min", 0, kLargestParameter);
    parameter.max = reader.required_integer("max", 0, kLargestParameter);
    parameter.default_value = reader.required_integer("default", 0, kLargestParameter);
    parameter.description = reader.optional_string("description", {.max_length = 500}).value_or("");
    if (const Json* draw = reader.object("draw")) {
        ObjectReader rule(*draw, reader.path_of("draw"), errors);
        parameter.draw_share = rule.required_number("share", 0, 0.25);
        parameter.draw_step = rule.optional_integer("step", 1, kLargestParameter).value_or(1);
        rule.finish(UnknownFields::kReject);
    }
    reader.finish(UnknownFields::kReject);
    if (parameter.min > parameter.default_value || parameter.default_value > parameter.max)
        reader.fail("default", "must lie between min and max");
    return parameter;
}

std::vector<OperatorImplementation> parse_implementations(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<OperatorImplementation> implementations;
    const Json* items = reader.array("implementations", 1, 8);
    if (items == nullptr) return implementations;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("implementations[" + std::to_string(i) + "]"), errors);
        implementations.push_back({item.required_string("resource_type", {.min_length = 1, .max_length = 32}),
                                   item.required_string("library", {.min_length = 1, .max_length = 64})});
        item.finish(UnknownFields::kReject);
    }
    return implementations;
}

OperatorSignature parse_signature(ObjectReader& reader, std::vector<FieldError>& errors)
{
    OperatorSignature signature;
    const Json* json = reader.object("signature");
    if (json == nullptr) return signature;
    ObjectReader item(*json, reader.path_of("signature"), errors);
    signature.symbols = item.strings("symbols", 200, {.min_length = 1, .max_length = 128});
    signature.argument_kinds = item.strings("argument_kinds", 32, {.min_length = 1, .max_length = 64});
    item.finish(UnknownFields::kReject);
    return signature;
}

/// Classes are complete sizes within the parameters' ranges.
std::vector<SizeClass> parse_size_classes(ObjectReader& reader, const OperatorManifest& manifest,
                                          std::vector<FieldError>& errors)
{
    std::vector<SizeClass> classes;
    const Json* items = reader.array("size_classes", 0, 16);
    if (items == nullptr) return classes;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = reader.path_of("size_classes[" + std::to_string(i) + "]");
        ObjectReader item((*items)[i], path, errors);
        SizeClass size;
        size.name = item.required_string("name", {.min_length = 1, .max_length = 32});
        const bool repeats = std::any_of(classes.begin(), classes.end(),
                                         [&](const SizeClass& other) { return other.name == size.name; });
        if (repeats) item.fail("name", "stands there twice");
        if (const Json* parameters = item.object("parameters"))
            size.parameters = parse_parameters(*parameters, item.path_of("parameters"), errors);
        item.finish(UnknownFields::kReject);
        size.parameters = complete_parameters(manifest, size.parameters, path + ".parameters", errors);
        classes.push_back(std::move(size));
    }
    return classes;
}

SandboxLimits parse_sandbox(ObjectReader& reader, std::vector<FieldError>& errors)
{
    SandboxLimits limits;
    const Json* json = reader.object("sandbox");
    if (json == nullptr) return limits;
    ObjectReader item(*json, reader.path_of("sandbox"), errors);
    limits.network = item.optional_boolean("network").value_or(false);
    limits.memory_bytes =
        item.optional_integer("memory_bytes", 1LL << 20U, kLargestParameter).value_or(limits.memory_bytes);
    item.finish(UnknownFields::kReject);
    return limits;
}

/// Beside the ranges that complete_parameters() knows, the sizes must grow from the default on.
CacheRule parse_cache_rule(const Json& json, const OperatorManifest& manifest, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, "cache_rule", errors);
    CacheRule rule;
    rule.array_bytes = reader.required_string("array_bytes", {.min_length = 1, .max_length = 512});
    rule.memory_bytes = reader.required_string("memory_bytes", {.min_length = 1, .max_length = 512});
    rule.least_multiple = reader.optional_number("least_multiple", 1, 1000).value_or(rule.least_multiple);
    if (const Json* items = reader.array("larger_sizes", 0, 16)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            const std::string path = reader.path_of("larger_sizes[" + std::to_string(i) + "]");
            const Parameters given = parse_parameters((*items)[i], path, errors);
            rule.larger_sizes.push_back(complete_parameters(manifest, given, path, errors));
        }
    }
    reader.finish(UnknownFields::kReject);
    return rule;
}

WorkingSet parse_working_set(const Json& json, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, "working_set", errors);
    WorkingSet set;
    set.bytes = reader.required_string("bytes", {.min_length = 1, .max_length = 512});
    set.parts = reader.required_string("parts", {.min_length = 1, .max_length = 512});
    reader.finish(UnknownFields::kReject);
    return set;
}

void check_larger_sizes(const OperatorManifest& manifest, std::vector<FieldError>& errors)
{
    const CacheRule& rule = *manifest.cache_rule;
    double before = formula_value(rule.array_bytes, manifest.default_parameters());
    for (std::size_t i = 0; i < rule.larger_sizes.size(); ++i) {
        const double now = formula_value(rule.array_bytes, rule.larger_sizes[i]);
        if (now <= before)
            errors.push_back({"cache_rule.larger_sizes[" + std::to_string(i) + "]",
                              "must have larger arrays than the size before it, the first than the default"});
        before = now;
    }
}

/// Classes must grow, so that the class of a size is well defined. The formulas have been checked.
void check_size_classes(const OperatorManifest& manifest, std::vector<FieldError>& errors)
{
    for (std::size_t i = 1; i < manifest.size_classes.size(); ++i) {
        if (work_of(manifest, manifest.size_classes[i].parameters) <=
            work_of(manifest, manifest.size_classes[i - 1].parameters))
            errors.push_back({"size_classes[" + std::to_string(i) + "]", "must be more work than the class before it"});
    }
}

/// A formula must have a value at the defaults and at both ends of every range.
void check_formula(const OperatorManifest& manifest, const std::string& field, const std::string& formula,
                   std::vector<FieldError>& errors)
{
    Parameters least;
    Parameters most;
    for (const OperatorParameter& parameter : manifest.parameters) {
        least[parameter.name] = parameter.min;
        most[parameter.name] = parameter.max;
    }
    for (const Parameters& at : {manifest.default_parameters(), least, most}) {
        const Result<double> value = evaluate_formula(formula, at);
        if (!value) {
            errors.push_back({field, value.error().detail + " (at " + parameters_key(at) + ")"});
            return;
        }
        if (*value < 0) {
            errors.push_back({field, "is negative at " + parameters_key(at)});
            return;
        }
    }
}

void check_cache_rule(const OperatorManifest& manifest, std::vector<FieldError>& errors)
{
    const std::size_t before = errors.size();
    check_formula(manifest, "cache_rule.array_bytes", manifest.cache_rule->array_bytes, errors);
    check_formula(manifest, "cache_rule.memory_bytes", manifest.cache_rule->memory_bytes, errors);
    if (errors.size() == before) check_larger_sizes(manifest, errors);
}

Json cache_rule_json(const CacheRule& rule)
{
    Json larger_sizes = Json::array();
    for (const Parameters& size : rule.larger_sizes)
        larger_sizes.push_back(to_json(size));
    return {{"array_bytes", rule.array_bytes},
            {"memory_bytes", rule.memory_bytes},
            {"least_multiple", rule.least_multiple},
            {"larger_sizes", std::move(larger_sizes)}};
}

} // namespace

Parameters OperatorManifest::default_parameters() const
{
    Parameters values;
    for (const OperatorParameter& parameter : parameters)
        values[parameter.name] = parameter.default_value;
    return values;
}

bool OperatorManifest::runs_on(std::string_view resource_type) const
{
    return std::any_of(implementations.begin(), implementations.end(),
                       [&](const auto& implementation) { return implementation.resource_type == resource_type; });
}

bool OperatorManifest::is_uploaded() const
{
    return std::any_of(implementations.begin(), implementations.end(),
                       [](const auto& implementation) { return implementation.library == "uploaded"; });
}

bool is_exchange_operator(std::string_view id)
{
    return id.starts_with("mpi_") || id.starts_with("tcp_");
}

void leave_out_own_fields(OperatorManifest& manifest)
{
    manifest.cache_rule.reset();
    manifest.working_set.reset();
}

double work_of(const OperatorManifest& manifest, const Parameters& parameters)
{
    // Formulas are checked at some sizes, and jobs name others.
    const double operations = formula_value(manifest.operation_count, parameters);
    if (operations > 0) return std::max(operations, 1.0);
    return std::max(formula_value(manifest.byte_count, parameters), 1.0);
}

const SizeClass* size_class_of(const OperatorManifest& manifest, const Parameters& parameters)
{
    const double work = portable::log(work_of(manifest, parameters));
    const SizeClass* nearest = nullptr;
    double least = 0;
    for (const SizeClass& size : manifest.size_classes) {
        const double distance = std::abs(portable::log(work_of(manifest, size.parameters)) - work);
        if (nearest != nullptr && distance >= least) continue;
        nearest = &size;
        least = distance;
    }
    return nearest;
}

bool is_operator_id(std::string_view text)
{
    return text.size() <= kMaxIdLength && is_identifier(text);
}

Result<OperatorManifest> parse_operator_manifest(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    OperatorManifest manifest;
    manifest.id = reader.required_string("id", {.min_length = 1, .max_length = kMaxIdLength});
    if (!manifest.id.empty() && !is_operator_id(manifest.id))
        reader.fail("id", "must be lower-case letters, digits and _, starting with a letter");
    manifest.version = reader.optional_integer("version", 1, 1000000).value_or(1);
    manifest.category = reader.required_string("category", {.min_length = 1, .max_length = 32});
    manifest.description = reader.required_string("description", {.min_length = 1, .max_length = 2000});
    if (const Json* items = reader.array("parameters", 0, 16)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            manifest.parameters.push_back(
                parse_parameter((*items)[i], "parameters[" + std::to_string(i) + "]", errors));
        }
    }
    manifest.inputs = reader.strings("inputs", 16, {.min_length = 1, .max_length = 200});
    manifest.outputs = reader.strings("outputs", 16, {.min_length = 1, .max_length = 200});
    manifest.operation_count = reader.required_string("operation_count", {.min_length = 1, .max_length = 512});
    manifest.byte_count = reader.required_string("byte_count", {.min_length = 1, .max_length = 512});
    manifest.truth = reader.required_string("truth", {.min_length = 1, .max_length = 1000});
    manifest.tolerance = reader.required_number("tolerance", 0, 1);
    manifest.precision = reader.required_string("precision", {.min_length = 1, .max_length = 16});
    manifest.implementations = parse_implementations(reader, errors);
    manifest.signature = parse_signature(reader, errors);
    manifest.size_classes = parse_size_classes(reader, manifest, errors);
    if (const Json* rule = reader.object("cache_rule")) manifest.cache_rule = parse_cache_rule(*rule, manifest, errors);
    if (const Json* set = reader.object("working_set")) manifest.working_set = parse_working_set(*set, errors);
    manifest.sandbox = parse_sandbox(reader, errors);
    reader.finish(UnknownFields::kReject);
    if (errors.empty()) {
        check_formula(manifest, "operation_count", manifest.operation_count, errors);
        check_formula(manifest, "byte_count", manifest.byte_count, errors);
        if (errors.empty()) check_size_classes(manifest, errors);
        if (manifest.cache_rule) check_cache_rule(manifest, errors);
        if (manifest.working_set) {
            check_formula(manifest, "working_set.bytes", manifest.working_set->bytes, errors);
            check_formula(manifest, "working_set.parts", manifest.working_set->parts, errors);
        }
    }
    return value_or_errors(std::move(manifest), std::move(errors), "the operator manifest");
}

Json to_json(const OperatorManifest& manifest)
{
    Json parameters = Json::array();
    for (const OperatorParameter& parameter : manifest.parameters) {
        Json json = {{"name", parameter.name},
                     {"min", parameter.min},
                     {"max", parameter.max},
                     {"default", parameter.default_value},
                     {"description", parameter.description}};
        if (parameter.draw_share > 0) json["draw"] = {{"share", parameter.draw_share}, {"step", parameter.draw_step}};
        parameters.push_back(std::move(json));
    }
    Json implementations = Json::array();
    for (const OperatorImplementation& implementation : manifest.implementations) {
        implementations.push_back(
            {{"resource_type", implementation.resource_type}, {"library", implementation.library}});
    }
    Json size_classes = Json::array();
    for (const SizeClass& size : manifest.size_classes)
        size_classes.push_back({{"name", size.name}, {"parameters", to_json(size.parameters)}});
    Json json = {
        {"id", manifest.id},
        {"version", manifest.version},
        {"category", manifest.category},
        {"description", manifest.description},
        {"parameters", std::move(parameters)},
        {"inputs", manifest.inputs},
        {"outputs", manifest.outputs},
        {"operation_count", manifest.operation_count},
        {"byte_count", manifest.byte_count},
        {"truth", manifest.truth},
        {"tolerance", manifest.tolerance},
        {"precision", manifest.precision},
        {"implementations", std::move(implementations)},
        {"signature", {{"symbols", manifest.signature.symbols}, {"argument_kinds", manifest.signature.argument_kinds}}},
        {"size_classes", std::move(size_classes)}};
    if (manifest.working_set)
        json["working_set"] = {{"bytes", manifest.working_set->bytes}, {"parts", manifest.working_set->parts}};
    if (manifest.cache_rule) json["cache_rule"] = cache_rule_json(*manifest.cache_rule);
    if (manifest.is_uploaded()) {
        json["sandbox"] = {{"network", manifest.sandbox.network}, {"memory_bytes", manifest.sandbox.memory_bytes}};
    }
    return json;
}

Parameters complete_parameters(const OperatorManifest& manifest, const Parameters& given, const std::string& path,
                               std::vector<FieldError>& errors)
{
    Parameters values = manifest.default_parameters();
    for (const auto& [name, value] : given) {
        const auto rule = std::find_if(manifest.parameters.begin(), manifest.parameters.end(),
                                       [&](const OperatorParameter& parameter) { return parameter.name == name; });
        if (rule == manifest.parameters.end()) {
            errors.push_back({path + "." + name, "is not a parameter of operator " + manifest.id});
        } else if (value < rule->min || value > rule->max) {
            errors.push_back({path + "." + name,
                              "must be between " + std::to_string(rule->min) + " and " + std::to_string(rule->max)});
        } else {
            values[name] = value;
        }
    }
    return values;
}

Parameters parse_parameters(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    Parameters parameters;
    ObjectReader reader(json, path, errors);
    if (json.is_object() && json.size() > 16) {
        errors.push_back({path, "must have at most 16 parameters"});
        return parameters;
    }
    if (!json.is_object()) return parameters;
    for (const auto& [name, value] : json.items()) {
        // parameters_key() joins them by ',' and '='.
        constexpr std::string_view kRefused("\0,=", 3);
        if (name.empty() || name.size() > kMaxNameLength || name.find_first_of(kRefused) != std::string::npos)
            reader.fail(name, "must have a name of 1 to " + std::to_string(kMaxNameLength) +
                                  " bytes without NUL, comma and equals sign");
        parameters[name] = reader.required_integer(name, 0, kLargestParameter);
    }
    return parameters;
}

Json to_json(const Parameters& parameters)
{
    Json json = Json::object();
    for (const auto& [name, value] : parameters)
        json[name] = value;
    return json;
}

} // namespace fathom
