#include "server/api/query_contract.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/nearest_name.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/yaml.hpp"
#include "schema/embedded.hpp"

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

constexpr JsonLimits kDocumentLimits{.max_bytes = 16UL << 20U, .max_depth = 64};

/// What `#/components/parameters/PageSize` leads to. @error kInvalid
Result<const Json*> follow(const Json& document, const Json& part)
{
    const Json* found = &part;
    for (int steps = 0; found->is_object() && found->contains("$ref"); ++steps) {
        const std::string& reference = found->at("$ref").get_ref<const std::string&>();
        const Json::json_pointer pointer(reference.substr(std::min<std::size_t>(1, reference.size())));
        if (steps > 8 || !document.contains(pointer)) return Error{Errc::kInvalid, reference + " leads nowhere"};
        found = &document.at(pointer);
    }
    return found;
}

std::optional<double> number_in(const Json& schema, const char* name)
{
    const auto found = schema.find(name);
    return found != schema.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

QueryParameter::Type type_of(const Json& schema)
{
    using Type = QueryParameter::Type;
    const std::string type = schema.value("type", "string");
    if (type == "boolean") return Type::kBoolean;
    if (type == "integer") return Type::kInteger;
    if (type == "number") return Type::kNumber;
    return schema.value("format", "") == "date-time" ? Type::kTime : Type::kText;
}

QueryParameter read_parameter(const Json& declared, const Json& schema)
{
    QueryParameter parameter;
    parameter.name = declared.at("name").get<std::string>();
    parameter.is_required = declared.value("required", false);
    parameter.type = type_of(schema);
    parameter.minimum = number_in(schema, "minimum");
    parameter.maximum = number_in(schema, "maximum");
    parameter.exclusive_minimum = number_in(schema, "exclusiveMinimum");
    parameter.min_length = schema.value("minLength", parameter.min_length);
    parameter.max_length = schema.value("maxLength", parameter.max_length);
    if (const auto values = schema.find("enum"); values != schema.end()) {
        for (const Json& value : *values)
            parameter.one_of.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    return parameter;
}

/// Adds those of a list that are of the query.
Result<void> read_parameters(const Json& document, const Json& owner, std::vector<QueryParameter>& parameters)
{
    const auto list = owner.find("parameters");
    if (list == owner.end()) return {};
    for (const Json& part : *list) {
        const Result<const Json*> declared = follow(document, part);
        if (!declared) return declared.error();
        if ((*declared)->value("in", "") != "query") continue;
        const Result<const Json*> schema = follow(document, (*declared)->at("schema"));
        if (!schema) return schema.error();
        parameters.push_back(read_parameter(**declared, **schema));
    }
    return {};
}

std::string upper(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    return text;
}

/// Without decimals where there are none.
std::string limit_text(double limit)
{
    return Json(static_cast<std::int64_t>(limit)).dump();
}

std::string range_text(const QueryParameter& parameter)
{
    const std::string kind = parameter.type == QueryParameter::Type::kInteger ? "a whole number" : "a number";
    if (parameter.exclusive_minimum) return "must be " + kind + " above " + limit_text(*parameter.exclusive_minimum);
    if (parameter.minimum && parameter.maximum)
        return "must be " + kind + " between " + limit_text(*parameter.minimum) + " and " +
               limit_text(*parameter.maximum);
    if (parameter.minimum) return "must be " + kind + " of at least " + limit_text(*parameter.minimum);
    return "must be " + kind;
}

bool is_in_range(double number, const QueryParameter& parameter)
{
    return number >= parameter.minimum.value_or(number) && number <= parameter.maximum.value_or(number) &&
           (!parameter.exclusive_minimum || number > *parameter.exclusive_minimum);
}

std::string choice_text(const std::vector<std::string>& values)
{
    std::string text = "must be ";
    for (std::size_t i = 0; i < values.size(); ++i)
        text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
    return text;
}

std::string wrong_text(const QueryParameter& parameter, const std::string& value)
{
    if (value.find('\0') != std::string::npos) return "must not contain a NUL character";
    if (value.empty() && parameter.min_length == 0) return "";
    if (!parameter.one_of.empty()) {
        const bool is_one =
            std::find(parameter.one_of.begin(), parameter.one_of.end(), value) != parameter.one_of.end();
        return is_one ? "" : choice_text(parameter.one_of);
    }
    if (value.size() >= parameter.min_length && value.size() <= parameter.max_length) return "";
    return "must have " + std::to_string(parameter.min_length) + " to " + std::to_string(parameter.max_length) +
           " bytes";
}

/// What is wrong with a value; empty: nothing.
std::string fault_of(const QueryParameter& parameter, const std::string& value)
{
    using Type = QueryParameter::Type;
    switch (parameter.type) {
    case Type::kBoolean:
        return value == "true" || value == "false" ? "" : "must be true or false";
    case Type::kInteger: {
        const auto number = parse_number<std::int64_t>(value);
        return number && is_in_range(static_cast<double>(*number), parameter) ? "" : range_text(parameter);
    }
    case Type::kNumber: {
        const auto number = parse_number<double>(value);
        return number && is_in_range(*number, parameter) ? "" : range_text(parameter);
    }
    case Type::kTime: {
        const Result<Timestamp> time = parse_rfc3339(value);
        return time ? "" : time.error().detail;
    }
    case Type::kText:
        return wrong_text(parameter, value);
    }
    return "";
}

} // namespace

QueryRules::QueryRules(std::vector<QueryParameter> parameters) : parameters_(std::move(parameters)) {}

std::string QueryRules::unknown_text(const std::string& name) const
{
    if (parameters_.empty()) return "is not a query parameter of this request, which has none";
    std::set<std::string, std::less<>> known;
    for (const QueryParameter& parameter : parameters_)
        known.insert(parameter.name);
    return "is not a query parameter of this request" + name_hint(name, known);
}

Result<void> QueryRules::check(const Query& query) const
{
    std::vector<FieldError> errors;
    for (const auto& [name, value] : query) {
        const auto parameter = std::find_if(parameters_.begin(), parameters_.end(),
                                            [&](const QueryParameter& one) { return one.name == name; });
        std::string fault = parameter == parameters_.end() ? unknown_text(name) : fault_of(*parameter, value);
        if (!fault.empty()) errors.push_back({name, std::move(fault)});
    }
    for (const QueryParameter& parameter : parameters_) {
        const auto found = query.find(parameter.name);
        if (parameter.is_required && (found == query.end() || found->second.empty()))
            errors.push_back({parameter.name, "is required"});
    }
    return no_errors(std::move(errors), "the query");
}

Result<QueryContract> QueryContract::read(const Json& openapi)
{
    QueryContract contract;
    for (const auto& [path, operations] : openapi.at("paths").items()) {
        for (const auto& [method, operation] : operations.items()) {
            if (!operation.is_object()) continue; // the path's own parameters
            std::vector<QueryParameter> parameters;
            for (const Json* owner : {&operations, &operation}) {
                if (Result<void> read = read_parameters(openapi, *owner, parameters); !read) return read.error();
            }
            contract.rules_.emplace(upper(method) + " " + path, QueryRules(std::move(parameters)));
        }
    }
    return contract;
}

const QueryRules* QueryContract::find(net::Method method, const std::string& path) const
{
    const auto found = rules_.find(std::string(net::to_string(method)) + " " + path);
    return found == rules_.end() ? nullptr : &found->second;
}

const Result<Json>& openapi_document()
{
    static const Result<Json> document = [] {
        const auto files = schema::openapi::embedded_files();
        return parse_yaml(files.empty() ? std::string_view() : files.front().content, kDocumentLimits);
    }();
    return document;
}

const Result<QueryContract>& query_contract()
{
    static const Result<QueryContract> contract = []() -> Result<QueryContract> {
        const Result<Json>& document = openapi_document();
        if (!document) return document.error();
        return QueryContract::read(*document);
    }();
    return contract;
}

} // namespace fathom::server
