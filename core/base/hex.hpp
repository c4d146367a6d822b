#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Appends one byte as two lower-case hex digits.
inline void append_hex(std::string& out, unsigned char byte)
{
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
}

/// The value of one hex digit of either case, 0 to 15; empty for any other character.
constexpr std::optional<unsigned> parse_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10U;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10U;
    return std::nullopt;
}

/// The byte that two hex digits of either case stand for; empty when one of them is none.
constexpr std::optional<unsigned char> parse_hex_byte(char high, char low)
{
    const std::optional<unsigned> first = parse_hex_digit(high);
    const std::optional<unsigned> second = parse_hex_digit(low);
    if (!first || !second) return std::nullopt;
    return static_cast<unsigned char>(*first << 4U | *second);
}

} // namespace fathom
