#pragma once

#include "core/decide/scoring/metric_policy.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What a policy refers to: other policies, and the library's operators.
namespace fathom {

/// Finds a policy; version 0: the newest. Empty when there is none.
using PolicyLookup = std::function<std::optional<MetricPolicy>(const std::string& id, std::int64_t version)>;

/// The policy with its parts, and theirs, looked up, so that it can score. References to its own id without a
/// version, or with its own, mean the policy itself.
/// @error kInvalid  with each reference that names no policy or closes a cycle; or it has more than 64 parts in all.
Result<MetricPolicy> resolve_policy(MetricPolicy policy, const PolicyLookup& lookup);

/// What the library says against a policy: operators that it does not have or that are withdrawn, sizes that are
/// incomplete or out of range, operations and bytes that are not what the manifest's formulas give, weights of
/// operators that the reference lacks or that are of another category.
std::vector<FieldError> check_against_library(const MetricPolicy& policy, const ManifestLookup& manifests);

} // namespace fathom
