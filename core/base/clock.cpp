#include "core/base/clock.hpp"

#include "core/base/result.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace fathom {
namespace {

/// Reads exactly `digits` decimal digits at `position` and moves past them.
bool read_digits(std::string_view text, std::size_t& position, std::size_t digits, int& value)
{
    if (position + digits > text.size()) return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const char c = text[position + i];
        if (c < '0' || c > '9') return false;
        value = value * 10 + (c - '0');
    }
    position += digits;
    return true;
}

bool read_char(std::string_view text, std::size_t& position, std::string_view allowed)
{
    if (position >= text.size() || allowed.find(text[position]) == std::string_view::npos) return false;
    ++position;
    return true;
}

/// Reads `.123456789` when there is one; digits past microseconds are dropped.
bool read_fraction(std::string_view text, std::size_t& position, std::chrono::microseconds& fraction)
{
    fraction = std::chrono::microseconds{0};
    if (position >= text.size() || text[position] != '.') return true;
    ++position;
    std::int64_t scale = 100000;
    std::size_t digits = 0;
    for (; position < text.size() && text[position] >= '0' && text[position] <= '9'; ++position, ++digits) {
        fraction += std::chrono::microseconds{scale * (text[position] - '0')};
        scale /= 10;
    }
    return digits >= 1 && digits <= 9;
}

bool read_offset(std::string_view text, std::size_t& position, std::chrono::minutes& offset)
{
    offset = std::chrono::minutes{0};
    if (position >= text.size()) return false;
    const char sign = text[position++];
    if (sign == 'Z' || sign == 'z') return true;
    if (sign != '+' && sign != '-') return false;
    int hours = 0;
    int minutes = 0;
    if (!read_digits(text, position, 2, hours) || !read_char(text, position, ":") ||
        !read_digits(text, position, 2, minutes) || hours > 23 || minutes > 59)
        return false;
    offset = std::chrono::minutes{hours * 60 + minutes};
    if (sign == '-') offset = -offset;
    return true;
}

constexpr Timestamp kFirstTime{std::chrono::sys_days{std::chrono::January / 1 / 1}};
constexpr Timestamp kTimesEnd{std::chrono::sys_days{std::chrono::January / 1 / 10000}};

} // namespace

Timestamp SystemClock::now() const
{
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::string format_rfc3339(Timestamp time)
{
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{time - day};
    std::array<char, 64> text{};
    const int size =
        std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(size)};
}

Result<Timestamp> parse_rfc3339(std::string_view text)
{
    const Error malformed{Errc::kInvalid, "not an RFC 3339 time such as 2026-12-01T18:00:00Z"};
    std::size_t position = 0;
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::chrono::microseconds fraction{};
    std::chrono::minutes offset{};
    if (!read_digits(text, position, 4, year) || !read_char(text, position, "-") ||
        !read_digits(text, position, 2, month) || !read_char(text, position, "-") ||
        !read_digits(text, position, 2, day) || !read_char(text, position, "Tt ") ||
        !read_digits(text, position, 2, hour) || !read_char(text, position, ":") ||
        !read_digits(text, position, 2, minute) || !read_char(text, position, ":") ||
        !read_digits(text, position, 2, second) || !read_fraction(text, position, fraction) ||
        !read_offset(text, position, offset) || position != text.size())
        return malformed;
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return malformed;
    const Timestamp time = Timestamp{std::chrono::sys_days{date}.time_since_epoch()} + std::chrono::hours{hour} +
                           std::chrono::minutes{minute} + std::chrono::seconds{second} + fraction - offset;
    // In UTC too, lest what was read cannot be written and read again.
    if (time < kFirstTime || time >= kTimesEnd) return malformed;
    return time;
}

} // namespace fathom
