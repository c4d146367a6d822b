#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// A field of CSV (RFC 4180): in quotes where it must be.
inline void append_csv(std::string& out, std::string_view text)
{
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

} // namespace fathom
