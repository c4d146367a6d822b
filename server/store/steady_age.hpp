#pragma once

#include "core/base/clock.hpp"

#include <chrono>
#include <deque>

namespace fathom::server {

/// Says which rows have a certain age for sure, though the database's clock, which dated them, may jump: by a step of
/// its machine's clock, or since another machine has taken over. What this process has not seen it takes to have gone
/// right: a jump from before its first look counts as time that has passed. Not thread-safe.
class SteadyAge {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    explicit SteadyAge(std::chrono::seconds age) : age_(age) {}

    /// To be called now and then, with both clocks at the same moment: rows that are as old as that may seem younger
    /// by the time between two calls, never the other way round.
    /// @return what the database dated before this is that old.
    Timestamp look(Timestamp database, SteadyTime now);

  private:
    struct Moment {
        SteadyTime steady;
        Timestamp database;
    };

    const std::chrono::seconds age_;
    std::deque<Moment> moments_; ///< of this age or younger, with the last that is older
};

} // namespace fathom::server
