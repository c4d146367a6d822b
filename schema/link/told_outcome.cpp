#include "schema/link/told_outcome.hpp"

#include "core/base/utf8_prefix.hpp"

namespace fathom::link {
namespace {

constexpr std::size_t kMaxOutcome = 32; ///< the name of one
constexpr std::size_t kMaxDetail = 4000;

/// What says most of the end to a server that does not know `exact_outcome`.
AttemptOutcome older_outcome(AttemptOutcome outcome)
{
    switch (outcome) {
    case AttemptOutcome::kOutOfMemory:
        return AttemptOutcome::kSignalled;
    case AttemptOutcome::kNodeFailure:
    case AttemptOutcome::kPreempted:
        return AttemptOutcome::kLost;
    case AttemptOutcome::kExited:
    case AttemptOutcome::kSignalled:
    case AttemptOutcome::kWallLimit:
    case AttemptOutcome::kCancelled:
    case AttemptOutcome::kFailedToStart:
    case AttemptOutcome::kLost:
        return outcome;
    }
    return outcome;
}

} // namespace

void write_outcome(Json& json, const AttemptEnd& end)
{
    const AttemptOutcome older = older_outcome(end.outcome);
    json["outcome"] = to_string(older);
    if (older != end.outcome) json["exact_outcome"] = to_string(end.outcome);
    json["detail"] = end.detail;
}

void read_outcome(ObjectReader& reader, AttemptEnd& end)
{
    const std::string outcome = reader.required_string("outcome", {.min_length = 1, .max_length = kMaxOutcome});
    const std::string exact = reader.optional_string("exact_outcome", {.max_length = kMaxOutcome}).value_or("");
    std::optional<AttemptOutcome> known = parse_attempt_outcome(exact);
    if (!known) known = parse_attempt_outcome(outcome);
    end.outcome = known.value_or(AttemptOutcome::kLost);
    end.detail = reader.optional_string("detail", {.max_length = kMaxDetail}).value_or("");
    if (known || outcome.empty()) return;
    const std::string words = "ended as " + outcome + ", which this version does not know";
    end.detail = end.detail.empty() ? words : words + ": " + end.detail;
    end.detail = std::string(utf8_prefix(end.detail, kMaxDetail));
}

} // namespace fathom::link
