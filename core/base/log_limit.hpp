#pragma once

#include "core/base/log.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace fathom {

/// Logs a warning for what strangers can cause as often as they like: of each event at most one line in 10 s. The
/// next line tells with `suppressed` how many were left out before it. Thread-safe.
void log_limited(std::string_view event, std::initializer_list<LogField> fields = {});

/// Decides which lines log_limited() writes. Thread-safe.
class LogLimiter {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// How many lines of the event were left out since its last one; empty when this one is left out too.
    /// Remembers each event for ever: their names stand in the code.
    std::optional<std::int64_t> take(std::string_view event, SteadyTime now);

  private:
    struct Entry {
        SteadyTime next;
        std::int64_t suppressed{};
    };
    std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> entries_;
};

} // namespace fathom
