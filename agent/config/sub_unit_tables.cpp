#include "agent/config/sub_unit_tables.hpp"

#include "core/model/name_limits.hpp"

#include <algorithm>
#include <set>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxSubUnits = 1'000'000;

bool is_unit_type(const std::string& name, const std::vector<UnitCut>& unit_types)
{
    if (unit_types.empty()) return name == "core" || name == "gpu";
    return std::any_of(unit_types.begin(), unit_types.end(), [&](const UnitCut& cut) { return cut.name == name; });
}

SubUnitRule read_rule(const Json& json, const std::string& path, const std::vector<UnitCut>& unit_types,
                      std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SubUnitRule rule;
    rule.kind = reader.required_string("kind", {.min_length = 1, .max_length = 64});
    rule.unit_type = reader.required_string("unit_type", {.min_length = 1, .max_length = kMaxUnitTypeNameBytes});
    if (!is_unit_type(rule.unit_type, unit_types)) reader.fail("unit_type", "is no unit type of this file");
    rule.sub_units_per_unit = reader.optional_integer("sub_units_per_unit", 1, kMaxSubUnits).value_or(1);
    rule.total = reader.required_integer("total", 0, kMaxSubUnits);
    rule.most = reader.optional_integer("most", 0, kMaxSubUnits).value_or(0);
    if (rule.most > 0 && rule.most < rule.total) reader.fail("most", "must be at least total");
    rule.change_program = reader.optional_string("change_program", {.max_length = 1000}).value_or("");
    if (!rule.change_program.empty() && !rule.change_program.is_absolute())
        reader.fail("change_program", "must be an absolute path");
    rule.change_limit = std::chrono::seconds(reader.optional_integer("change_limit_s", 1, 600).value_or(60));
    reader.finish(UnknownFields::kReject);
    return rule;
}

} // namespace

std::vector<SubUnitRule> read_sub_units(ObjectReader& reader, const std::vector<UnitCut>& unit_types,
                                        std::vector<FieldError>& errors)
{
    std::vector<SubUnitRule> rules;
    const Json* items = reader.has("sub_units") ? reader.array("sub_units", 1, 100) : nullptr;
    if (items == nullptr) return rules;
    std::set<std::string> kinds;
    std::set<std::string> of_types;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = "sub_units[" + std::to_string(i) + "]";
        rules.push_back(read_rule((*items)[i], path, unit_types, errors));
        if (!kinds.insert(rules.back().kind).second) errors.push_back({path + ".kind", "is duplicated"});
        if (!of_types.insert(rules.back().unit_type).second) errors.push_back({path + ".unit_type", "is duplicated"});
    }
    return rules;
}

} // namespace fathom::agent
