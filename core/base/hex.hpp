#pragma once

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

} // namespace fathom
