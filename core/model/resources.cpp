#include "core/model/resources.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/name_limits.hpp"
#include "core/model/unit_cut.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kMaxNumber = 1LL << 60U;
constexpr std::size_t kMaxDetail = 1000;

ResourceDifference read_difference(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader item(json, path, errors);
    ResourceDifference difference;
    difference.code = item.required_string("code", {.min_length = 1, .max_length = 64});
    difference.unit_type = item.optional_string("unit_type", {.max_length = kMaxUnitTypeNameBytes}).value_or("");
    difference.field = item.optional_string("field", {.max_length = 64}).value_or("");
    difference.wanted = item.optional_integer("wanted", 0, kMaxNumber).value_or(0);
    difference.seen = item.optional_integer("seen", 0, kMaxNumber).value_or(0);
    difference.detail = item.required_string("detail", {.max_length = kMaxDetail});
    if (contains_nul(json)) errors.push_back({path, "must not contain a NUL character"});
    return difference;
}

} // namespace

Result<std::vector<UnitCut>> parse_resource_document(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    if (json.is_object() && !reader.has("unit_types")) reader.fail("unit_types", "is required");
    std::vector<UnitCut> cuts = read_unit_cuts(reader, "unit_types", 0, UnknownFields::kReject, errors);
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(cuts), std::move(errors), "the resource configuration");
}

Json resource_document(const std::vector<UnitCut>& unit_types)
{
    Json items = Json::array();
    for (const UnitCut& cut : unit_types)
        items.push_back(to_json(cut));
    return {{"unit_types", std::move(items)}};
}

ResourceOrder read_resource_order(ObjectReader& reader, std::vector<FieldError>& errors)
{
    ResourceOrder order;
    order.version = reader.required_integer("version", 0, kMaxNumber);
    order.unit_types = read_unit_cuts(reader, "unit_types", 0, UnknownFields::kIgnore, errors);
    return order;
}

ResourceState read_resource_state(ObjectReader& reader, std::vector<FieldError>& errors)
{
    ResourceState state;
    state.version = reader.required_integer("version", 0, kMaxNumber);
    state.state = reader.required_string("state", {.min_length = 1, .max_length = 32}); // a newer agent may have others
    state.detail = reader.optional_string("detail", {.max_length = kMaxDetail}).value_or("");
    state.permission = reader.optional_string("permission", {.max_length = 32}).value_or("");
    for (const auto& [name, text] : {std::pair("state", &state.state), std::pair("detail", &state.detail),
                                     std::pair("permission", &state.permission)}) {
        if (text->find('\0') != std::string::npos) reader.fail(name, "must not contain a NUL character");
    }
    const Json* const items =
        reader.has("differences") ? reader.array("differences", 0, kMaxResourceDifferences) : nullptr;
    if (items == nullptr) return state;
    for (std::size_t i = 0; i < items->size(); ++i)
        state.differences.push_back(
            read_difference((*items)[i], reader.path_of("differences[" + std::to_string(i) + "]"), errors));
    return state;
}

Json to_json(const ResourceOrder& order)
{
    Json json = resource_document(order.unit_types);
    json["version"] = order.version;
    return json;
}

Json to_json(const ResourceDifference& difference)
{
    return {{"code", difference.code},     {"unit_type", difference.unit_type}, {"field", difference.field},
            {"wanted", difference.wanted}, {"seen", difference.seen},           {"detail", difference.detail}};
}

Json to_json(const ResourceState& state)
{
    Json differences = Json::array();
    for (const ResourceDifference& difference : state.differences)
        differences.push_back(to_json(difference));
    return {{"version", state.version},
            {"state", state.state},
            {"detail", state.detail},
            {"permission", state.permission},
            {"differences", std::move(differences)}};
}

} // namespace fathom
