#pragma once

#include "core/base/clock.hpp"

#include <optional>
#include <string>

namespace fathom {

/// What is expected to start within so many seconds starts at once: before it is no queue.
inline constexpr double kAtOnce_s = 5;

/// The queue of a center's own batch system before a unit type, other people's jobs in it included.
struct TypeQueue {
    std::string unit_type; ///< the name that the agent reported
    /// When a job of one unit that is submitted now would start, as the batch system plans; empty: it does not say.
    std::optional<Timestamp> expected_start;

    bool operator==(const TypeQueue&) const = default;
};

} // namespace fathom
