#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fathom {

/// The parts between the marks, empty ones included; one more than there are marks. They refer to the text.
/// @param most  parts at most, 1 or more; the last one has the rest, marks included.
inline std::vector<std::string_view> split_text(std::string_view text, char mark, std::size_t most = SIZE_MAX)
{
    std::vector<std::string_view> parts;
    while (parts.size() + 1 < most) {
        const std::size_t end = text.find(mark);
        if (end == std::string_view::npos) break;
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

} // namespace fathom
