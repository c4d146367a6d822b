#pragma once

#include "core/model/operator_manifest.hpp"
#include "probes/profile/profile.hpp"

#include <vector>

namespace fathom::profile {

/// Reads the counts, matches them with the library, and sums up.
Profile build_profile(const ProfileInput& input, const std::vector<OperatorManifest>& library);

} // namespace fathom::profile
