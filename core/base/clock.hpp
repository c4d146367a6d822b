#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace fathom {

/// A moment for storage and exchange: UTC, microseconds, as PostgreSQL keeps it.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// A duration in seconds, as JSON and SQL carry it.
using Seconds = std::chrono::duration<double>;

/// Where time comes from. Code that decides takes times as arguments; code that acts takes a Clock.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Timestamp now() const = 0;
};

/// The machine's clock. Thread-safe.
class SystemClock final : public Clock {
  public:
    Timestamp now() const override;
};

/// RFC 3339 in UTC with microseconds: `2026-11-20T11:04:14.123456Z`.
std::string format_rfc3339(Timestamp time);

/// Reads RFC 3339 with any offset and up to nine fraction digits (cut to microseconds).
/// @error kInvalid  not RFC 3339, a date that does not exist, or in UTC outside the years 1 to 9999.
Result<Timestamp> parse_rfc3339(std::string_view text);

} // namespace fathom
