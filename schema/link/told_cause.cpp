#include "schema/link/told_cause.hpp"

#include <array>
#include <string_view>

namespace fathom::link {
namespace {

constexpr std::size_t kMaxCause = 32; ///< the name of one

/// How agents told the cause before there was a field for it: by the beginning of the detail. Servers of that time look
/// for the same, so what agents say goes on to begin so.
struct OlderWords {
    AttemptOutcome outcome;
    AttemptCause cause;
    std::string_view beginning;
};
constexpr std::array<OlderWords, 4> kOlderWords{{
    {AttemptOutcome::kFailedToStart, AttemptCause::kProgramNotStarted, "cannot start \""},
    {AttemptOutcome::kFailedToStart, AttemptCause::kStagingFailed, "staging failed: "},
    {AttemptOutcome::kFailedToStart, AttemptCause::kNoLocalUser, "no local user: "},
    {AttemptOutcome::kExited, AttemptCause::kOutputsFailed, "outputs could not be stored: "},
}};

/// Of ends by themselves there is one, which is none of those that failed to start.
bool is_cause_of(AttemptOutcome outcome, AttemptCause cause)
{
    return (outcome == AttemptOutcome::kExited) == (cause == AttemptCause::kOutputsFailed);
}

AttemptCause cause_of_older_agent(const AttemptEnd& end)
{
    for (const OlderWords& words : kOlderWords) {
        if (words.outcome == end.outcome && end.detail.starts_with(words.beginning)) return words.cause;
    }
    return AttemptCause::kNone;
}

} // namespace

bool may_have_cause(const AttemptEnd& end)
{
    return end.outcome == AttemptOutcome::kFailedToStart || (end.outcome == AttemptOutcome::kExited && !end.exit_code);
}

AttemptCause read_cause(ObjectReader& reader, const AttemptEnd& end)
{
    const std::optional<std::string> told = reader.optional_string("cause", {.max_length = kMaxCause});
    if (!may_have_cause(end)) return AttemptCause::kNone;
    if (!told) return cause_of_older_agent(end);
    const AttemptCause cause = parse_attempt_cause(*told).value_or(AttemptCause::kNone);
    return is_cause_of(end.outcome, cause) ? cause : AttemptCause::kNone;
}

} // namespace fathom::link
