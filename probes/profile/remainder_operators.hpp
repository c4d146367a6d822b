#pragma once

#include "core/base/result.hpp"
#include "core/model/operator_manifest.hpp"
#include "probes/profile/known_machine.hpp"
#include "probes/profile/profile.hpp"

#include <vector>

namespace fathom::profile {

/// Adds operators that stand for the remainder, so that the whole program is represented: as many executions as take
/// its time. Those whose times are not known of the machine are run for a moment with the prober beside this program;
/// where all are known, nothing is run.
/// @error kUnavailable  it cannot be run; the detail says why.
Result<void> add_remainder_operators(Profile& profile, const std::vector<OperatorManifest>& library,
                                     const KnownMachine& machine);

} // namespace fathom::profile
