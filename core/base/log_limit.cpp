#include "core/base/log_limit.hpp"

#include "core/base/log.hpp"
#include "core/base/log_line.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};

} // namespace

std::optional<std::int64_t> LogLimiter::take(std::string_view event, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    auto entry = entries_.find(event);
    if (entry == entries_.end()) entry = entries_.emplace(std::string(event), Entry{}).first;
    auto& [next, suppressed] = entry->second;
    if (now < next) {
        ++suppressed;
        return std::nullopt;
    }
    next = now + kBetweenLines;
    return std::exchange(suppressed, 0);
}

void log_limited(std::string_view event, std::initializer_list<LogField> fields)
{
    static LogLimiter limiter;
    const std::optional<std::int64_t> suppressed = limiter.take(event, std::chrono::steady_clock::now());
    if (!suppressed) return;
    std::vector<LogField> all(fields);
    if (*suppressed > 0) all.emplace_back("suppressed", *suppressed);
    write_log_line(LogLevel::kWarning, event, all);
}

} // namespace fathom
