#include "agent/executor/batch/script_notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace fathom::agent {
namespace {

constexpr double kMaxTime = 4e9; ///< seconds since 1970

std::optional<double> read_double(std::istringstream& words)
{
    double value = 0;
    if (!(words >> value) || !std::isfinite(value) || value < 0) return std::nullopt;
    return value;
}

std::optional<Timestamp> read_time(std::istringstream& words)
{
    const std::optional<double> value = read_double(words);
    if (!value || *value > kMaxTime) return std::nullopt;
    return Timestamp(std::chrono::microseconds(std::llround(*value * 1e6)));
}

/// `0m1.500s`, as bash's `times` prints it.
std::optional<double> read_minutes(std::istringstream& words)
{
    const std::optional<double> minutes = read_double(words);
    char m = '\0';
    char s = '\0';
    if (!minutes || !(words >> m) || m != 'm') return std::nullopt;
    const std::optional<double> rest = read_double(words);
    if (!rest || !(words >> s) || s != 's') return std::nullopt;
    return *minutes * 60 + *rest;
}

} // namespace

ScriptNotes read_notes(std::string_view started, std::string_view ended)
{
    ScriptNotes notes;
    std::istringstream start{std::string(started)};
    notes.started_at = read_time(start);
    std::istringstream end{std::string(ended)};
    int code = 0;
    if (!(end >> code) || code < 0 || code > 255) return notes;
    const std::optional<Timestamp> time = read_time(end);
    if (!time) return notes;
    notes.exit_code = code;
    notes.ended_at = time;
    std::array<double, 4> times{}; // user and system, of the shell and of its children
    for (double& value : times) {
        const std::optional<double> read = read_minutes(end);
        if (!read) return notes;
        value = *read;
    }
    notes.cpu_s = std::min(times[2] + times[3], 1e12);
    return notes;
}

void set_exit(AttemptEnd& end, int code)
{
    if (code > kShellSignalled && code <= kShellSignalled + kLastSignal) {
        end.outcome = AttemptOutcome::kSignalled;
        end.signal = code - kShellSignalled;
        return;
    }
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = code;
}

} // namespace fathom::agent
