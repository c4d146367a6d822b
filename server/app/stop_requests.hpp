#pragma once

#include "core/base/open_file.hpp"

#include <chrono>
#include <optional>

namespace fathom::server {

/// What fathomd is asked for by a signal.
struct RequestedStop {
    int signal = 0;
    bool is_at_once = false; ///< it was asked to stop before, and is still stopping
};

/// Tells signals that ask for another stop from those that are one with the first: what comes within a second of that,
/// as from a service manager that signals all processes, and again. Signals have no time; so the second is over when
/// all that came in it has been taken, and a supervisor that is held up takes several for one, never one for several.
class StopRequests {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::milliseconds kSame{1000}; ///< from the first: until then all are one

    /// @param signals  a signalfd that does not block
    explicit StopRequests(OpenFile signals) : signals_(std::move(signals)) {}

    /// What can be read once there is something to take.
    int number() const { return signals_.number(); }

    /// How long, in milliseconds, may pass until take() is called also where no signal comes; -1: without limit.
    int poll_limit_ms(SteadyTime now) const;

    /// Takes all signals that have come.
    /// @param now  read before the call
    /// @return what they ask for that was not asked before
    std::optional<RequestedStop> take(SteadyTime now);

  private:
    std::optional<int> read_all() const;

    OpenFile signals_;
    std::optional<SteadyTime> first_;
    bool is_next_another_ = false; ///< all that was one with the first has been taken
};

} // namespace fathom::server
