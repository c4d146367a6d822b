#pragma once

#include <array>
#include <charconv>
#include <string>

/// Numbers for people, the same in every locale.
namespace fathom {

/// With so many digits that count, the zeros at the end left out: "0.25", "1.2e+06".
inline std::string significant_text(double value, int digits)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
    return {text.data(), end.ptr};
}

/// With so many digits behind the point, at most 9: "0.250".
inline std::string fixed_text(double value, int digits)
{
    std::array<char, 320> text{}; // the largest number has 309 digits
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return {text.data(), end.ptr};
}

} // namespace fathom
