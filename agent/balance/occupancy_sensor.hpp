#pragma once

#include "core/decide/balance/occupancy.hpp"

namespace fathom::agent {

/// Tells how busy a unit and its link have been. Not thread-safe; functions may block for tens of milliseconds.
class OccupancySensor {
  public:
    virtual ~OccupancySensor() = default;

    /// Looks at what only shows the moment, several times a period. Nothing to do where counters add up by themselves.
    virtual void sample() {}

    /// Over the time since the last call; the first one only begins.
    /// @error kUnavailable  nothing can be told: the detail begins with "absent" where a counter is not there at all.
    /// @error kInvalid      what was counted cannot be.
    virtual Result<Occupancies> measure() = 0;
};

} // namespace fathom::agent
