#include "server/identity/rotation_step.hpp"

#include <algorithm>
#include <array>

namespace fathom::server {
namespace {

constexpr std::array<std::string_view, 4> kStepNames{"begin", "switch", "finish", "cancel"}; // order of RotationStep
constexpr std::size_t kNamedCenters = 20;                                                    ///< in a refusal

RotationPhase phase_before(RotationStep step)
{
    switch (step) {
    case RotationStep::kBegin:
        return RotationPhase::kNone;
    case RotationStep::kSwitch:
    case RotationStep::kCancel:
        return RotationPhase::kBegun;
    case RotationStep::kFinish:
        return RotationPhase::kSwitched;
    }
    return RotationPhase::kNone;
}

Error out_of_turn(RotationPhase phase)
{
    switch (phase) {
    case RotationPhase::kNone:
        return {Errc::kConflict, "no rotation of the authority has begun: fathom authority rotate --begin"};
    case RotationPhase::kBegun:
        return {Errc::kConflict, "a next authority is there and does not sign yet: fathom authority rotate --switch "
                                 "goes on, --cancel forgets it"};
    case RotationPhase::kSwitched:
        return {Errc::kConflict, "the new authority signs already, and the past one is still trusted: fathom authority "
                                 "rotate --finish"};
    }
    return {Errc::kConflict, "not now"};
}

std::string described(const WaitingCenter& center)
{
    return center.name + " (" + center.reason +
           "; last seen: " + (center.last_seen_at ? format_rfc3339(*center.last_seen_at) : std::string("never")) + ")";
}

Error waits(RotationStep step, std::vector<WaitingCenter> centers)
{
    std::sort(centers.begin(), centers.end(),
              [](const WaitingCenter& one, const WaitingCenter& other) { return one.name < other.name; });
    std::string text = std::to_string(centers.size()) + (centers.size() == 1 ? " center" : " centers") +
                       (step == RotationStep::kSwitch ? " would not believe the new certificates: "
                                                      : " would be refused with the certificates that they have: ");
    const std::size_t named = std::min(centers.size(), kNamedCenters);
    for (std::size_t i = 0; i < named; ++i)
        text += (i == 0 ? "" : ", ") + described(centers[i]);
    if (named < centers.size()) text += " and " + std::to_string(centers.size() - named) + " more";
    return {Errc::kConflict, text + ". With force they are cut off until they enrol again"};
}

} // namespace

std::string_view to_string(RotationStep step)
{
    return kStepNames.at(static_cast<std::size_t>(step));
}

std::vector<std::string_view> rotation_step_names()
{
    return {kStepNames.begin(), kStepNames.end()};
}

std::optional<RotationStep> parse_rotation_step(std::string_view name)
{
    for (std::size_t i = 0; i < kStepNames.size(); ++i)
        if (kStepNames[i] == name) return static_cast<RotationStep>(i);
    return std::nullopt;
}

Result<void> check_rotation_step(RotationStep step, RotationPhase phase, const std::vector<WaitingCenter>& waits_for,
                                 bool is_forced)
{
    if (phase != phase_before(step)) return out_of_turn(phase);
    const bool cuts_off = step == RotationStep::kSwitch || step == RotationStep::kFinish;
    if (cuts_off && !waits_for.empty() && !is_forced) return waits(step, waits_for);
    return {};
}

} // namespace fathom::server
