#pragma once

#include "core/model/attempt.hpp"

#include <optional>
#include <string_view>

namespace fathom::agent {

/// What a batch script noted, which its user could forge: a run is not shorter for it than it was seen to be.
struct ScriptNotes {
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> ended_at;
    std::optional<std::int64_t> exit_code;
    double cpu_s{};
    /// The batch system started the job once more while no end of its program had been noted.
    bool is_started_again{};
};

/// Reads the script's files `started` (seconds) and `ended` (exit code, seconds, and what `times` printed last). What
/// cannot be read is left out.
ScriptNotes read_notes(std::string_view started, std::string_view ended);

/// Why we asked for the end of a job; kNeverStarts: the batch system shows a reason for which it would wait for ever.
enum class EndAsked { kNo, kCancelled, kWallLimit, kNeverStarts };

/// The exit code of a shell: 128 and a signal's number is that of a program that the signal ended.
inline constexpr int kShellSignalled = 128;
inline constexpr int kLastSignal = 64;
void set_exit(AttemptEnd& end, int code);

} // namespace fathom::agent
