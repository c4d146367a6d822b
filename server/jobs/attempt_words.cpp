#include "server/jobs/attempt_words.hpp"

#include "schema/link/attempt_detail.hpp"

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

} // namespace

JobEnding ending_of(const AttemptEnd& end, std::int64_t wall_limit_s)
{
    switch (end.outcome) {
    case AttemptOutcome::kExited:
        if (end.exit_code.value_or(-1) == 0) return {JobState::kSucceeded, with_detail("exit code 0", end.detail)};
        if (!end.exit_code && end.detail.starts_with(link::kOutputsFailed)) return {JobState::kFailed, end.detail};
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
    case AttemptOutcome::kLost:
        return {JobState::kFailed, with_detail("lost", end.detail)};
    }
    return {JobState::kFailed, "ended"};
}

} // namespace fathom::server
