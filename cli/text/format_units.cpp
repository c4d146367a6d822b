#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace fathom::cli {
namespace {

/// Three significant digits of a number below 1000.
std::string three_digits(double value)
{
    const double size = std::abs(value);
    if (size < 9.995) return fmt::format("{:.2f}", value);
    if (size < 99.95) return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

struct Scaled {
    std::string number;
    std::string_view unit;
};

/// The largest step that keeps the number at 1 or more.
template <std::size_t Count>
Scaled scale(double value, double step, const std::array<std::string_view, Count>& units)
{
    std::size_t index = 0;
    while (std::abs(value) >= step * 0.9995 && index + 1 < Count) {
        value /= step;
        ++index;
    }
    return {three_digits(value), units[index]};
}

std::string joined(const Scaled& scaled)
{
    return scaled.number + " " + std::string(scaled.unit);
}

constexpr double kMinute_s = 60;
constexpr double kHour_s = 3600;
constexpr double kDay_s = 86400;

/// Below two minutes: one number and one unit.
Scaled short_duration(double seconds)
{
    const double size = std::abs(seconds);
    if (size == 0) return {"0", "s"};
    if (size < 0.9995e-6) return {three_digits(seconds * 1e9), "ns"};
    if (size < 0.9995e-3) return {three_digits(seconds * 1e6), "µs"};
    if (size < 0.9995) return {three_digits(seconds * 1e3), "ms"};
    return {three_digits(seconds), "s"};
}

} // namespace

std::string format_duration(double seconds)
{
    if (!std::isfinite(seconds)) return "-";
    const double size = std::abs(seconds);
    if (size < 2 * kMinute_s) return joined(short_duration(seconds));
    const auto whole = static_cast<std::int64_t>(std::llround(size));
    const std::string sign = seconds < 0 ? "-" : "";
    if (size < 2 * kHour_s) return fmt::format("{}{} min {:02} s", sign, whole / 60, whole % 60);
    if (size < 2 * kDay_s) return fmt::format("{}{} h {:02} min", sign, whole / 3600, whole % 3600 / 60);
    return fmt::format("{}{} d {} h", sign, whole / 86400, whole % 86400 / 3600);
}

std::string format_interval(double low_s, double high_s)
{
    const std::string high = format_duration(high_s);
    if (std::abs(low_s) < 2 * kMinute_s && std::abs(high_s) < 2 * kMinute_s) {
        const Scaled from = short_duration(low_s);
        const Scaled to = short_duration(high_s);
        if (from.unit == to.unit) return from.number + "–" + joined(to);
    }
    return format_duration(low_s) + " – " + high;
}

std::string format_flops(double per_second)
{
    constexpr std::array<std::string_view, 6> kUnits{"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"};
    return joined(scale(per_second, 1000, kUnits));
}

std::string format_bandwidth(double bytes_per_second)
{
    constexpr std::array<std::string_view, 5> kUnits{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return joined(scale(bytes_per_second, 1000, kUnits));
}

std::string format_bytes(double bytes)
{
    constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (std::abs(bytes) < 1000) return fmt::format("{:.0f} B", bytes);
    return joined(scale(bytes, 1024, kUnits));
}

std::string format_percent(double fraction)
{
    return fmt::format("{:.1f} %", fraction * 100);
}

std::string format_error(double relative)
{
    return relative == 0 ? std::string("0") : fmt::format("{:.1e}", relative);
}

std::string format_count(std::int64_t count)
{
    std::string digits = std::to_string(count);
    const std::size_t first = count < 0 ? 1 : 0;
    if (digits.size() - first < 5) return digits;
    for (std::size_t i = digits.size(); i > first + 3;) {
        i -= 3;
        digits.insert(i, 1, ' ');
    }
    return digits;
}

std::string format_number(double value)
{
    const double size = std::abs(value);
    if (size >= 999.5 && size < 1e7) return format_count(std::llround(value));
    if (size >= 1e7 || (size > 0 && size < 0.01)) return fmt::format("{:.2e}", value);
    return three_digits(value);
}

std::string format_age(Timestamp then, Timestamp now)
{
    const double seconds = std::chrono::duration_cast<Seconds>(now - then).count();
    const double size = std::abs(seconds);
    if (size < 2) return "just now";
    std::string text;
    if (size < 2 * kMinute_s)
        text = fmt::format("{:.0f} s", size);
    else if (size < 2 * kHour_s)
        text = fmt::format("{:.0f} min", std::floor(size / kMinute_s));
    else if (size < 2 * kDay_s)
        text = fmt::format("{:.0f} h", std::floor(size / kHour_s));
    else
        text = fmt::format("{:.0f} d", std::floor(size / kDay_s));
    return seconds < 0 ? "in " + text : text + " ago";
}

std::string format_time(Timestamp time)
{
    std::string text = format_rfc3339(time).substr(0, 19);
    text[10] = ' ';
    return text + " UTC";
}

} // namespace fathom::cli
