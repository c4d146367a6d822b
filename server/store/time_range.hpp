#pragma once

#include "core/base/clock.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// What a list of the past is limited to; empty: nothing on that side.
struct TimeRange {
    std::optional<Timestamp> since; ///< that time and later
    std::optional<Timestamp> until; ///< before that time
};

/// The range as two parameters of type timestamptz; an open side is an infinity.
struct TimeRangeText {
    std::string since;
    std::string until;
};
TimeRangeText to_sql_text(const TimeRange& range);

} // namespace fathom::server
