#include "core/model/attempt_cause.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

constexpr std::array<std::pair<AttemptCause, std::string_view>, 5> kCauseNames{{
    {AttemptCause::kNone, "none"},
    {AttemptCause::kProgramNotStarted, "program_not_started"},
    {AttemptCause::kStagingFailed, "staging_failed"},
    {AttemptCause::kNoLocalUser, "no_local_user"},
    {AttemptCause::kOutputsFailed, "outputs_failed"},
}};

} // namespace

std::string_view to_string(AttemptCause cause)
{
    return std::find_if(kCauseNames.begin(), kCauseNames.end(), [&](const auto& entry) { return entry.first == cause; })
        ->second;
}

std::optional<AttemptCause> parse_attempt_cause(std::string_view text)
{
    for (const auto& [cause, name] : kCauseNames) {
        if (name == text) return cause;
    }
    return std::nullopt;
}

} // namespace fathom
