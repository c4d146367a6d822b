#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <chrono>

namespace fathom::server {

/// From when until when.
struct Period {
    Timestamp starts_at{};
    Timestamp ends_at{};
};

/// Nothing is planned further ahead.
inline constexpr std::chrono::days kFurthestStart{366};

/// Reads `starts_at` (missing: now) and `ends_at`. Reported in the reader's errors: an end that does not lie behind the
/// start and behind now, a start more than a minute ago or beyond kFurthestStart, more than `longest`.
Period read_period(ObjectReader& reader, Timestamp now, std::chrono::days longest);

} // namespace fathom::server
