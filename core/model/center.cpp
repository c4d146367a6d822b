#include "core/model/center.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/name_limits.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

UnitTypeReport parse_unit_type(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    UnitTypeReport unit_type;
    unit_type.name = reader.required_string("name", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
    unit_type.resource_type = reader.required_string("resource_type", {.min_length = 1, .max_length = 32});
    unit_type.unit_count = reader.required_integer("unit_count", 0, 10'000'000);
    unit_type.cores_per_unit = reader.required_integer("cores_per_unit", 0, 100'000);
    unit_type.memory_bytes_per_unit = reader.required_integer("memory_bytes_per_unit", 0, 1LL << 50U);
    unit_type.operators = reader.strings("operators", 1000, {.min_length = 1, .max_length = 64});
    if (const Json* facts = reader.object("facts")) unit_type.facts = *facts;
    reader.finish(UnknownFields::kIgnore);
    return unit_type;
}

} // namespace

Result<Catalog> parse_catalog(const Json& json, const std::string& path)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, path, errors);
    Catalog catalog;
    std::set<std::string> names;
    if (const Json* items = reader.array("unit_types", 0, 100)) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            const std::string field = "unit_types[" + std::to_string(i) + "]";
            catalog.unit_types.push_back(parse_unit_type((*items)[i], reader.path_of(field), errors));
            if (!names.insert(catalog.unit_types.back().name).second) reader.fail(field + ".name", "is duplicated");
        }
    }
    if (const Json* facts = reader.object("facts")) catalog.facts = *facts;
    reader.finish(UnknownFields::kIgnore);
    return value_or_errors(std::move(catalog), std::move(errors), "the catalog");
}

Json to_json(const Catalog& catalog)
{
    Json unit_types = Json::array();
    for (const UnitTypeReport& unit_type : catalog.unit_types) {
        unit_types.push_back({{"name", unit_type.name},
                              {"resource_type", unit_type.resource_type},
                              {"unit_count", unit_type.unit_count},
                              {"cores_per_unit", unit_type.cores_per_unit},
                              {"memory_bytes_per_unit", unit_type.memory_bytes_per_unit},
                              {"operators", unit_type.operators},
                              {"facts", unit_type.facts}});
    }
    return {{"unit_types", std::move(unit_types)}, {"facts", catalog.facts}};
}

} // namespace fathom
