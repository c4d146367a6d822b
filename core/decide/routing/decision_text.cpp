#include "core/decide/routing/decision_text.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/routing/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom {

std::string duration_text(double seconds)
{
    if (seconds < 1) return fmt::format("{:.2g} s", seconds);
    if (seconds < 120) return fmt::format("{:.3g} s", seconds);
    if (seconds < 7200) return fmt::format("{:.3g} min", seconds / 60);
    return fmt::format("{:.3g} h", seconds / 3600);
}

std::string bytes_text(double bytes)
{
    constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
    std::size_t index = 0;
    while (bytes >= 999.5 && index + 1 < kPrefixes.size()) {
        bytes /= 1000;
        ++index;
    }
    return fmt::format("{:.3g} {}B", bytes, kPrefixes[index]);
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
    // Cents, as on a bill, unless that would round a small amount away.
    std::string text = cost == 0 || cost >= 0.1 ? fmt::format("{:.2f}", cost) : fmt::format("{:.2g}", cost);
    constexpr double kMinPlain = 1e-4; // below it numbers get an exponent, which no bill has
    if (cost > 0 && cost < kMinPlain) {
        int decimals = 5;
        for (double left = cost * 1e5; left < 1 && decimals < 15; left *= 10)
            ++decimals;
        text = fmt::format("{:.{}f}", cost, decimals);
    }
    return text + (currency.empty() ? std::string() : " " + std::string(currency));
}

std::string energy_text(double joules)
{
    constexpr double kJoulesPerKilowattHour = 3.6e6;
    if (joules < 1000) return fmt::format("{:.3g} J", joules);
    if (joules < kJoulesPerKilowattHour / 10) return fmt::format("{:.3g} kJ", joules / 1000);
    return fmt::format("{:.3g} kWh", joules / kJoulesPerKilowattHour);
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
    constexpr double kMaxSeconds = 1e9; // later moments would not fit
    const auto left = std::chrono::ceil<Timestamp::duration>(Seconds(std::min(completion_s, kMaxSeconds)));
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
    return portable::pow(10.0, std::floor(portable::log10(std::max(value, 1e-12))) - digits + 1);
}

std::string place_text(const Candidate& candidate)
{
    return candidate.center + "/" + candidate.unit_type;
}

} // namespace fathom
