#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace fathom::server {

/// Numbers are given to rows before their transactions commit, so one that is missing below one that is there may yet
/// appear, or never. Transactions are short: a missing number is settled, it will not come, once a higher one has been
/// there for the limit. Not thread-safe.
class SettledNumbers {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit SettledNumbers(std::chrono::milliseconds limit) : limit_(limit) {}

    /// `newest` is the highest number that was there at `now`. Times ascend.
    void see(std::int64_t newest, SteadyTime now);
    /// What is missing below this in a look that began at `now` is settled; 0: nothing is. It may be before what was
    /// seen last, which that look has brought.
    std::int64_t settled(SteadyTime now);
    void forget();

  private:
    struct Sight {
        std::int64_t newest{};
        SteadyTime at;
    };
    const std::chrono::milliseconds limit_;
    std::deque<Sight> sights_; ///< ascending, younger than the limit but for the first
    std::int64_t settled_ = 0;
};

} // namespace fathom::server
