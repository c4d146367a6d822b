#pragma once

// Internal to server/centers.

#include <chrono>

namespace fathom::server {

/// How often something may come: so many times in a row, then once in each pause. Not thread-safe.
class MessagePace {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    MessagePace(int most_in_a_row, std::chrono::milliseconds pause)
        : most_(most_in_a_row), room_(most_in_a_row), pause_(pause)
    {
    }

    /// Counts one that comes `now`. @return how long it has to wait; 0: there is room.
    std::chrono::steady_clock::duration take(SteadyTime now);

  private:
    double most_;
    double room_; ///< for how many more, at `at_`; below 0: so many wait
    std::chrono::duration<double> pause_;
    SteadyTime at_{};
};

} // namespace fathom::server
