#include "server/operators/operator_order.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// The errors of a part, under its name.
void append_errors(std::vector<FieldError>& errors, const std::string& part, const Error& error)
{
    for (const FieldError& field : error.fields)
        errors.push_back({field.field.empty() ? part : part + "." + field.field, field.detail});
    if (error.fields.empty()) errors.push_back({part, error.detail});
}

void read_manifest(const Json& json, OperatorOrder& order, std::vector<FieldError>& errors)
{
    Result<OperatorManifest> manifest = parse_operator_manifest(json);
    if (!manifest) {
        append_errors(errors, "manifest", manifest.error());
        return;
    }
    if (manifest->is_uploaded())
        errors.push_back({"manifest.implementations", "the library \"uploaded\" needs code: upload a signed package"});
    if (json.contains("sandbox"))
        errors.push_back({"manifest.sandbox", "is for uploaded operators only; built-in code runs without a sandbox"});
    order.manifest = std::move(*manifest);
}

void read_package(const Json& json, OperatorOrder& order, std::vector<FieldError>& errors)
{
    Result<OperatorPackage> package = parse_operator_package(json);
    if (!package) {
        append_errors(errors, "package", package.error());
        return;
    }
    const auto& implementations = package->manifest.implementations;
    for (std::size_t i = 0; i < implementations.size(); ++i) {
        if (implementations[i].library != "uploaded")
            errors.push_back({"package.manifest.implementations[" + std::to_string(i) + "].library",
                              "must be \"uploaded\": all code of the operator comes from its package"});
    }
    order.manifest = package->manifest;
    order.package = std::move(*package);
}

void check_parameters(const OperatorManifest& changed, const OperatorManifest& built_in,
                      std::vector<FieldError>& errors)
{
    const auto same_name = [](const OperatorParameter& a, const OperatorParameter& b) { return a.name == b.name; };
    if (!std::ranges::equal(changed.parameters, built_in.parameters, same_name)) {
        errors.push_back({"manifest.parameters", "must be the built-in operator's, by name and in order"});
        return;
    }
    for (std::size_t i = 0; i < changed.parameters.size(); ++i) {
        const OperatorParameter& range = built_in.parameters[i];
        const std::string path = "manifest.parameters[" + std::to_string(i) + "].";
        if (changed.parameters[i].min < range.min)
            errors.push_back(
                {path + "min", "the built-in code takes " + range.name + " from " + std::to_string(range.min) + " on"});
        if (changed.parameters[i].max > range.max)
            errors.push_back(
                {path + "max", "the built-in code takes " + range.name + " up to " + std::to_string(range.max)});
    }
}

} // namespace

Result<OperatorOrder> parse_operator_order(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    OperatorOrder order;
    const Json* const manifest = reader.object("manifest");
    const Json* const package = reader.object("package");
    if (manifest != nullptr) read_manifest(*manifest, order, errors);
    if (package != nullptr) read_package(*package, order, errors);
    if (json.is_object() && reader.has("manifest") == reader.has("package"))
        errors.push_back({"", "must have either a manifest or a package"});
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(order), std::move(errors), "the operator");
}

void check_expert_change(const OperatorManifest& changed, const OperatorManifest& built_in,
                         std::vector<FieldError>& errors)
{
    const Json ours = to_json(changed);
    const Json theirs = to_json(built_in);
    for (const char* const field :
         {"inputs", "outputs", "operation_count", "byte_count", "truth", "precision", "implementations"}) {
        if (ours[field] != theirs[field])
            errors.push_back({std::string("manifest.") + field,
                              "must stay as it is: the built-in code fixes it (" + theirs[field].dump() + ")"});
    }
    check_parameters(changed, built_in, errors);
}

bool same_content(OperatorManifest a, OperatorManifest b)
{
    a.version = b.version = 1;
    return to_json(a) == to_json(b);
}

} // namespace fathom::server
