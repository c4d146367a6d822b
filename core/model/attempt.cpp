#include "core/model/attempt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

constexpr std::array<std::pair<AttemptOutcome, std::string_view>, 9> kOutcomeNames{{
    {AttemptOutcome::kExited, "exited"},
    {AttemptOutcome::kSignalled, "signalled"},
    {AttemptOutcome::kWallLimit, "wall_limit"},
    {AttemptOutcome::kCancelled, "cancelled"},
    {AttemptOutcome::kFailedToStart, "failed_to_start"},
    {AttemptOutcome::kLost, "lost"},
    {AttemptOutcome::kOutOfMemory, "out_of_memory"},
    {AttemptOutcome::kNodeFailure, "node_failure"},
    {AttemptOutcome::kPreempted, "preempted"},
}};

} // namespace

std::string_view to_string(AttemptOutcome outcome)
{
    return std::find_if(kOutcomeNames.begin(), kOutcomeNames.end(),
                        [&](const auto& entry) { return entry.first == outcome; })
        ->second;
}

std::optional<AttemptOutcome> parse_attempt_outcome(std::string_view text)
{
    for (const auto& [outcome, name] : kOutcomeNames) {
        if (name == text) return outcome;
    }
    return std::nullopt;
}

bool is_centers_doing(AttemptOutcome outcome)
{
    return outcome == AttemptOutcome::kLost || outcome == AttemptOutcome::kNodeFailure ||
           outcome == AttemptOutcome::kPreempted;
}

} // namespace fathom
