#pragma once

#include "core/model/operator_package.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What an expert sends: a manifest that code with the agents serves, or code of its own.
struct OperatorOrder {
    OperatorManifest manifest;
    std::optional<OperatorPackage> package; ///< its manifest is `manifest`
};

/// Reads `{"manifest": {…}}` or `{"package": {…}}`. A plain manifest's version is ignored: the library gives it.
/// @error kInvalid  with every field error.
Result<OperatorOrder> parse_operator_order(const Json& json);

/// Which fields of a built-in operator's manifest an expert may not change, because the code that agents have fixes
/// them: inputs, outputs, truth, precision, implementations, formulas, and which parameters there are; their ranges
/// may only become narrower. Free are category, description, tolerance, signature, size classes, and the parameters'
/// defaults and descriptions. Adds an error for each field that breaks this, under `manifest.`.
void check_expert_change(const OperatorManifest& changed, const OperatorManifest& built_in,
                         std::vector<FieldError>& errors);

/// Equal but for the version number, which the library gives.
bool same_content(OperatorManifest a, OperatorManifest b);

} // namespace fathom::server
