#include "server/jobs/attempt_words.hpp"

#include "core/decide/routing/decision_text.hpp"
#include "core/model/out_of_memory.hpp"

#include <cmath>
#include <csignal>
#include <string_view>

namespace fathom::server {
namespace {

/// "SIGKILL" for 9; empty for signals without a name that people know.
std::string_view signal_name(std::int64_t number)
{
    switch (number) {
    case SIGHUP:
        return "SIGHUP";
    case SIGINT:
        return "SIGINT";
    case SIGQUIT:
        return "SIGQUIT";
    case SIGILL:
        return "SIGILL";
    case SIGTRAP:
        return "SIGTRAP";
    case SIGABRT:
        return "SIGABRT";
    case SIGBUS:
        return "SIGBUS";
    case SIGFPE:
        return "SIGFPE";
    case SIGKILL:
        return "SIGKILL";
    case SIGSEGV:
        return "SIGSEGV";
    case SIGPIPE:
        return "SIGPIPE";
    case SIGTERM:
        return "SIGTERM";
    case SIGXCPU:
        return "SIGXCPU";
    case SIGXFSZ:
        return "SIGXFSZ";
    default:
        return "";
    }
}

std::string signal_words(const AttemptEnd& end)
{
    if (!end.signal) return "killed by a signal";
    const std::string_view name = signal_name(*end.signal);
    std::string words = "killed by signal " + std::to_string(*end.signal);
    if (!name.empty()) words += " (" + std::string(name) + ")";
    return words;
}

std::string with_detail(std::string words, const std::string& detail)
{
    return detail.empty() ? words : words + ": " + detail;
}

/// With the limit as far as its center says it, what was used, and what would help.
std::string memory_words(const AttemptEnd& end)
{
    // Agents begin their sentence so, except where something kept them from storing it.
    std::string words = end.detail.starts_with(kOutOfMemoryWords)
                            ? end.detail
                            : with_detail(std::string(kOutOfMemoryWords), end.detail);
    if (end.max_resident_bytes > 0)
        words += "; its largest process had " + bytes_text(static_cast<double>(end.max_resident_bytes));
    return words + "; ask for units with more memory (units.memory_bytes), or for more units";
}

/// Of an end that is the center's doing.
std::string centers_words(AttemptOutcome outcome)
{
    if (outcome == AttemptOutcome::kNodeFailure) return "a node failed";
    return outcome == AttemptOutcome::kPreempted ? "pre-empted at its center" : "lost";
}

std::string percent(double share)
{
    return std::to_string(std::llround(100 * share));
}

/// What is expected of jobs beside each other rests on this.
std::string_view basis_words(PairSource basis)
{
    switch (basis) {
    case PairSource::kDefault:
        return "by their classes";
    case PairSource::kClassAverage:
        return "by measured pairs of their classes";
    case PairSource::kCompleted:
        return "completed from measured pairs of each with others";
    case PairSource::kMeasured:
        return "as measured together";
    }
    return "by their classes";
}

} // namespace

std::string start_cause(const std::string& center, const std::optional<DeviceNeighbours>& neighbours)
{
    std::string words = "started at center " + center;
    if (!neighbours) return words;
    words += "; others on its device: " + std::to_string(neighbours->compute_count) + " compute-intensive, " +
             std::to_string(neighbours->memory_count) + " memory-intensive, " +
             std::to_string(neighbours->unknown_count) + " of unknown class";
    if (!neighbours->expected_share || !neighbours->least_share_beside) return words;
    words += "; beside them it is expected to keep " + percent(*neighbours->expected_share) +
             " % of its speed, and each of them " + percent(*neighbours->least_share_beside) + " % or more";
    words += " (";
    words += basis_words(neighbours->basis);
    if (neighbours->expected_spread) words += ", give or take " + percent(*neighbours->expected_spread) + " %";
    return words + ")";
}

JobEnding ending_of(const AttemptEnd& end, std::int64_t wall_limit_s)
{
    switch (end.outcome) {
    case AttemptOutcome::kExited:
        if (end.exit_code.value_or(-1) == 0) return {JobState::kSucceeded, with_detail("exit code 0", end.detail)};
        if (end.cause == AttemptCause::kOutputsFailed) return {JobState::kFailed, end.detail};
        return {
            JobState::kFailed,
            with_detail(end.exit_code ? "exit code " + std::to_string(*end.exit_code) : "no exit code", end.detail)};
    case AttemptOutcome::kSignalled:
        return {JobState::kFailed, with_detail(signal_words(end), end.detail)};
    case AttemptOutcome::kWallLimit:
        return {JobState::kFailed, "stopped at its wall-time limit of " + std::to_string(wall_limit_s) + " s"};
    case AttemptOutcome::kCancelled:
        return {JobState::kCancelled, with_detail("cancelled", end.detail)};
    case AttemptOutcome::kFailedToStart:
        return {JobState::kFailed, with_detail("could not be started", end.detail)};
    case AttemptOutcome::kOutOfMemory:
        return {JobState::kFailed, memory_words(end)};
    case AttemptOutcome::kLost:
    case AttemptOutcome::kNodeFailure:
    case AttemptOutcome::kPreempted:
        return {JobState::kFailed, requeue_cause(end)};
    }
    return {JobState::kFailed, "ended"};
}

std::string requeue_cause(const AttemptEnd& end)
{
    return with_detail(centers_words(end.outcome), end.detail);
}

} // namespace fathom::server
