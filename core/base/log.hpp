#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace fathom {

/// One key and value of a log line. Never a secret, a token or a user's data.
struct LogField {
    std::string_view key;
    std::variant<std::string_view, std::int64_t, double, bool> value;

    LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
    LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
    LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
    LogField(std::string_view k, bool v) : key(k), value(v) {}
    LogField(std::string_view k, double v) : key(k), value(v) {}
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    LogField(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v))
    {
    }
};

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Sets what is written, and `program`, which every line carries. Call once at start.
/// Lines go to standard error, one JSON object each:
/// `{"time":…,"level":"info","program":"fathomd","event":"job_placed","job_id":…}`.
void start_log(std::string_view program, LogLevel least);

/// `event` is a stable name in snake_case that an operator can search for. Thread-safe.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view event, std::initializer_list<LogField> fields = {})
{
    log(LogLevel::kDebug, event, fields);
}
inline void log_info(std::string_view event, std::initializer_list<LogField> fields = {})
{
    log(LogLevel::kInfo, event, fields);
}
inline void log_warning(std::string_view event, std::initializer_list<LogField> fields = {})
{
    log(LogLevel::kWarning, event, fields);
}
inline void log_error(std::string_view event, std::initializer_list<LogField> fields = {})
{
    log(LogLevel::kError, event, fields);
}

} // namespace fathom
