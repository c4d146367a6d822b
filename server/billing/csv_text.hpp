#pragma once

#include "core/base/csv_field.hpp"
#include "core/base/hex.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

/// Texts and exact decimals for exports. Written for a million rows: nothing is allocated but the output.
namespace fathom::server {

inline void append_number(std::string& out, std::int64_t number)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

/// `number` / 10^decimals, without zeros at its end: 12.5
inline void append_decimal(std::string& out, std::int64_t number, int decimals)
{
    std::uint64_t magnitude = static_cast<std::uint64_t>(number);
    if (number < 0) {
        out += '-';
        magnitude = 0 - magnitude;
    }
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, magnitude).ptr;
    const auto count = static_cast<int>(end - digits);
    if (count <= decimals) {
        out += "0.";
        out.append(static_cast<std::size_t>(decimals - count), '0');
        out.append(digits, end);
    } else {
        out.append(digits, end - decimals);
        out += '.';
        out.append(end - decimals, end);
    }
    while (out.back() == '0')
        out.pop_back();
    if (out.back() == '.') out.pop_back();
}

/// The same by itself.
inline std::string decimal_text(std::int64_t number, int decimals)
{
    std::string text;
    append_decimal(text, number, decimals);
    return text;
}

/// The text of a JSON string, in quotes; bytes that are no UTF-8 were refused before they were stored.
inline void append_json(std::string& out, std::string_view text)
{
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            append_hex(out, static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    out += '"';
}

} // namespace fathom::server
