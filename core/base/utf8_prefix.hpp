#pragma once
#include <cstddef>
#include <string_view>

namespace fathom {

/// The beginning of a UTF-8 text, of at most so many bytes and without a part of a character at its end. A database
/// and JSON refuse the part.
inline std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes)
{
    if (text.size() <= most_bytes) return text;
    // The bytes of a character after its first begin with the bits 10.
    while (most_bytes > 0 && (static_cast<unsigned char>(text[most_bytes]) & 0xC0U) == 0x80U)
        --most_bytes;
    return text.substr(0, most_bytes);
}

} // namespace fathom
