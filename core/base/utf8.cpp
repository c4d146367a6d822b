#include "core/base/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom {
namespace {

/// Size of the UTF-8 sequence at the front; 0 when it is none (also overlong, surrogate, too big).
std::size_t utf8_size(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    }
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return size;
}

} // namespace

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

} // namespace fathom
