#include "probes/runner/list_operators.hpp"

#include "probes/operators/registry.hpp"

#include <fmt/format.h>

namespace fathom::probes {

std::string operators_table()
{
    std::string text = fmt::format("{:<14}{:<10}{:<10}{:<10}{:<14}{:>10}   {}\n", "OPERATOR", "CATEGORY", "LIBRARY",
                                   "PRECISION", "PARAMETER", "DEFAULT", "RANGE");
    for (const RegisteredOperator& item : registered_operators()) {
        const OperatorManifest& manifest = item.manifest;
        std::string left = fmt::format("{:<14}{:<10}{:<10}{:<10}", manifest.id, manifest.category,
                                       manifest.implementations.front().library, manifest.precision);
        for (const OperatorParameter& parameter : manifest.parameters) {
            text += fmt::format("{}{:<14}{:>10}   {}..{}\n", left, parameter.name, parameter.default_value,
                                parameter.min, parameter.max);
            left.assign(left.size(), ' ');
        }
    }
    return text;
}

Json operators_json()
{
    Json operators = Json::array();
    for (const RegisteredOperator& item : registered_operators())
        operators.push_back(to_json(item.manifest));
    return {{"runner_version", FATHOM_VERSION}, {"operators", std::move(operators)}};
}

} // namespace fathom::probes
