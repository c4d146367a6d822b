#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace fathom::agent {

/// What `fathom-profile --machine` says of this host, so that profiled jobs do not hold their units while it is
/// measured.
///
/// It is the agent's own work, and never beside a job: from the first profiled job on, as soon as no attempt has held
/// units for some seconds and the host is idle, and again when it is a day old. It is to be ended when an attempt
/// begins meanwhile, and is tried again. Kept in memory alone: an agent that starts knows nothing. Decides only;
/// somebody else runs the program. Not thread-safe.
class ProfilerMachine {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// Call it often. @return whether the program is to be run now; take() must follow.
    /// @param running       attempts that hold units.
    /// @param is_wanted     jobs are profiled here.
    /// @param is_host_busy  others compute on this host: another center's jobs, say. Not asked while the program runs.
    bool is_due(std::int64_t running, bool is_wanted, bool is_host_busy, Time now);

    /// Whether the program runs for nothing: an attempt has begun since, or forget() was called.
    bool must_stop() const { return is_running_ && (is_outdated_ || (last_busy_ && *last_busy_ > began_)); }

    /// The machine, or what programs find on it, has changed: what was measured before is of another one.
    void forget();

    /// What the program wrote, or why it could not be run. @return whether text() has changed.
    bool take(const Result<std::string>& output, Time now);

    /// JSON, the `machine` of a library of fathom-profile; empty: nothing is known.
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    bool is_running_ = false;
    bool is_outdated_ = false;                     ///< what the program measures is of before forget()
    Time began_{};                                 ///< the last run of the program
    std::optional<Time> last_busy_ = std::nullopt; ///< when an attempt was last seen to hold units, or the host busy
    std::optional<Time> next_ = std::nullopt;      ///< not before
};

} // namespace fathom::agent
