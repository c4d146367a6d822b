#pragma once

#include "core/base/parse_number.hpp"

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

/// The same of a text that somebody has chosen, such as the name of a job, for people who open it in a spreadsheet:
/// what that would take for a formula, and run, has an apostrophe before it. Numbers are left as they are.
inline void append_csv_name(std::string& out, std::string_view text)
{
    const bool is_like_formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
    if (!is_like_formula || parse_number<double>(text)) return append_csv(out, text);
    append_csv(out, "'" + std::string(text));
}

} // namespace fathom
