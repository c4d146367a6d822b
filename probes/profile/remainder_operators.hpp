#pragma once

#include "core/base/result.hpp"
#include "core/model/operator_manifest.hpp"
#include "probes/profile/profile.hpp"

#include <vector>

namespace fathom::profile {

/// Adds operators that stand for the remainder, so that the whole program is represented, by running them for
/// a moment with the prober beside this program.
/// @error kUnavailable  it cannot be run; the detail says why.
Result<void> add_remainder_operators(Profile& profile, const std::vector<OperatorManifest>& library);

} // namespace fathom::profile
