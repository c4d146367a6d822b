#include "core/decide/decision_text.hpp"

#include "core/decide/route.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace fathom {

std::string duration_text(double seconds)
{
    char text[32];
    if (seconds < 1)
        std::snprintf(text, sizeof text, "%.2g s", seconds);
    else if (seconds < 120)
        std::snprintf(text, sizeof text, "%.3g s", seconds);
    else if (seconds < 7200)
        std::snprintf(text, sizeof text, "%.3g min", seconds / 60);
    else
        std::snprintf(text, sizeof text, "%.3g h", seconds / 3600);
    return text;
}

std::string bytes_text(double bytes)
{
    constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
    std::size_t index = 0;
    while (bytes >= 999.5 && index + 1 < kPrefixes.size()) {
        bytes /= 1000;
        ++index;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %sB", bytes, kPrefixes[index]);
    return text;
}

std::string rate_text(double rate_bytes)
{
    return bytes_text(rate_bytes) + "/s";
}

std::string units_text(std::int64_t count)
{
    return count == 1 ? "1 unit" : std::to_string(count) + " units";
}

std::string cost_text(double cost, std::string_view currency)
{
    char text[64];
    // Cents, as on a bill, unless that would round a small amount away.
    std::snprintf(text, sizeof text, cost == 0 || cost >= 0.1 ? "%.2f" : "%.2g", cost);
    return text + (currency.empty() ? std::string() : " " + std::string(currency));
}

std::string energy_text(double joules)
{
    constexpr double kJoulesPerKilowattHour = 3.6e6;
    char text[32];
    if (joules < 1000)
        std::snprintf(text, sizeof text, "%.3g J", joules);
    else if (joules < kJoulesPerKilowattHour / 10)
        std::snprintf(text, sizeof text, "%.3g kJ", joules / 1000);
    else
        std::snprintf(text, sizeof text, "%.3g kWh", joules / kJoulesPerKilowattHour);
    return text;
}

std::string moment_text(Timestamp at, Timestamp now)
{
    const std::string text = format_rfc3339(at); // 2026-11-20T11:04:14.123456Z
    const bool has_fraction = at != std::chrono::floor<std::chrono::seconds>(at);
    const bool is_full_minute = at == std::chrono::floor<std::chrono::minutes>(at);
    const std::string clock = text.substr(11, is_full_minute ? 5 : has_fraction ? 10 : 8);
    return (std::chrono::abs(at - now) < std::chrono::hours(24) ? "" : text.substr(0, 10) + " ") + clock + " UTC";
}

Timestamp kept_deadline(Timestamp now, double completion_s)
{
    constexpr double kLongestSeconds = 1e9; // later moments would not fit
    const auto left = std::chrono::ceil<Timestamp::duration>(Seconds(std::min(completion_s, kLongestSeconds)));
    if (left < std::chrono::minutes(2)) return std::chrono::ceil<std::chrono::seconds>(now + left);
    return std::chrono::ceil<std::chrono::minutes>(now + left);
}

double kept_budget(double cost)
{
    if (!(cost > 0)) return 0;
    return round_up(cost, cost >= 0.1 ? 0.01 : step_of(cost, 2));
}

double round_up(double value, double step)
{
    return std::ceil(value / step - 1e-9) * step;
}

double step_of(double value, int digits)
{
    return std::pow(10.0, std::floor(std::log10(std::max(value, 1e-12))) - digits + 1);
}

std::string place_text(const Candidate& candidate)
{
    return candidate.center + "/" + candidate.unit_type;
}

} // namespace fathom
