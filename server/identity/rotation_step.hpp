#pragma once

#include "core/base/clock.hpp"
#include "server/identity/network_authorities.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// What an administrator does to replace the network's authority.
///
///     none --begin--> begun --switch--> switched --finish--> none
///     begun --cancel--> none
enum class RotationStep {
    kBegin,  ///< makes a next authority, which all are told to trust
    kSwitch, ///< signs by it; certificates of the one before are renewed
    kFinish, ///< trusts the one before no more
    kCancel, ///< forgets the next one, which has signed nothing
};
std::string_view to_string(RotationStep step);
std::vector<std::string_view> rotation_step_names();
std::optional<RotationStep> parse_rotation_step(std::string_view name);

/// A center whose agent a step would cut off.
struct WaitingCenter {
    std::string id;
    std::string name;
    std::string agent_version; ///< empty: it was never connected
    std::optional<Timestamp> last_seen_at;
    std::string reason; ///< for people
};

/// Whether a step may be taken now.
/// @param waits_for  centers that a switch, or a finish, would cut off now; in any order.
/// @param is_forced  they are cut off.
/// @error kConflict  the step is not the next one, with the one that is; or it waits for centers, with some of them.
Result<void> check_rotation_step(RotationStep step, RotationPhase phase, const std::vector<WaitingCenter>& waits_for,
                                 bool is_forced);

} // namespace fathom::server
