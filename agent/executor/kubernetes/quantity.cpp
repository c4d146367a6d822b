#include "agent/executor/kubernetes/quantity.hpp"

#include "core/base/parse_number.hpp"

#include <array>
#include <cctype>
#include <cmath>

namespace fathom::agent {
namespace {

struct Suffix {
    std::string_view text;
    long double factor;
};

constexpr std::array<Suffix, 14> kSuffixes{{{"", 1.0L},
                                            {"n", 1e-9L},
                                            {"u", 1e-6L},
                                            {"m", 1e-3L},
                                            {"k", 1e3L},
                                            {"M", 1e6L},
                                            {"G", 1e9L},
                                            {"T", 1e12L},
                                            {"P", 1e15L},
                                            {"E", 1e18L},
                                            {"Ki", 1024.0L},
                                            {"Mi", 1048576.0L},
                                            {"Gi", 1073741824.0L},
                                            {"Ti", 1099511627776.0L}}};
constexpr std::array<Suffix, 2> kLargeSuffixes{{{"Pi", 1125899906842624.0L}, {"Ei", 1152921504606846976.0L}}};
constexpr std::size_t kMaxTextBytes = 64;

/// The factor of what follows the number: a suffix, or an exponent such as e3.
std::optional<long double> factor_of(std::string_view rest)
{
    for (const Suffix& suffix : kSuffixes) {
        if (rest == suffix.text) return suffix.factor;
    }
    for (const Suffix& suffix : kLargeSuffixes) {
        if (rest == suffix.text) return suffix.factor;
    }
    if (rest.size() < 2 || (rest[0] != 'e' && rest[0] != 'E')) return std::nullopt;
    rest.remove_prefix(rest[1] == '+' ? 2 : 1);
    const std::optional<int> exponent = parse_number<int>(rest);
    if (!exponent || *exponent < -30 || *exponent > 30) return std::nullopt;
    return std::pow(10.0L, static_cast<long double>(*exponent));
}

} // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text, std::int64_t scale)
{
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.size() > kMaxTextBytes) return std::nullopt;
    long double value = 0;
    long double place = 1;
    bool has_digit = false;
    bool has_point = false;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        if (text[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) break;
        has_digit = true;
        value = value * 10 + (text[i] - '0');
        if (has_point) place *= 10;
    }
    const std::optional<long double> factor = factor_of(text.substr(i));
    if (!has_digit || !factor) return std::nullopt;
    const long double amount = value / place * *factor * static_cast<long double>(scale);
    constexpr long double kMaxAmount = 9e18L;
    if (!(amount <= kMaxAmount)) return std::nullopt;
    // 0.1 and the like have no exact double: what is a hair above a whole number is that number.
    return static_cast<std::int64_t>(std::ceil(amount - 1e-6L));
}

} // namespace fathom::agent
