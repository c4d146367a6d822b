#pragma once

#include <chrono>
#include <optional>

namespace fathom::cli {

/// The pauses of a wait that asks again and again: 0.1 s at first, growing to 2 s, never past the limit.
class WaitTime {
  public:
    explicit WaitTime(std::optional<double> limit_s);

    /// True once the limit has passed.
    bool has_passed() const;
    /// How long to pause now; shorter when the limit is near. The next one is longer.
    std::chrono::milliseconds next_pause();
    /// Like next_pause(), with no growth: at most `longest`, less when the limit is near.
    std::chrono::milliseconds at_most(std::chrono::milliseconds longest) const;
    /// Sleeps for next_pause(). False, at once, when the limit has passed.
    bool pause();

  private:
    std::optional<std::chrono::steady_clock::time_point> end_;
    std::chrono::milliseconds next_{100};
};

} // namespace fathom::cli
