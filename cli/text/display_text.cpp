#include "cli/text/display_text.hpp"

#include <clocale>
#include <cwchar>
#include <locale.h>

namespace fathom::cli {
namespace {

/// One character of UTF-8 text.
struct Character {
    char32_t code = U'?';
    std::size_t bytes = 1;
    bool valid = false;
};

Character read_character(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1, true};
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) return {};
    char32_t code = first & (0xFFU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        code = (code << 6U) | (byte(i) & 0x3FU);
    }
    const bool too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    if (too_long || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
    return {code, size, true};
}

/// Characters that turn the direction of the text after them.
bool turns_direction(char32_t code)
{
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// wcwidth() knows only the thread's locale, and the program's stays "C" for numbers. C.UTF-8 is part of the C
/// library; where it is missing every character counts as one column.
class Utf8Scope {
  public:
    Utf8Scope() : locale_(utf8()), before_(locale_ == nullptr ? nullptr : ::uselocale(locale_)) {}
    ~Utf8Scope()
    {
        if (locale_ != nullptr) ::uselocale(before_);
    }
    Utf8Scope(const Utf8Scope&) = delete;
    Utf8Scope& operator=(const Utf8Scope&) = delete;

    std::size_t width(char32_t code) const
    {
        if (locale_ == nullptr) return 1;
        const int columns = ::wcwidth(static_cast<wchar_t>(code));
        return columns < 0 ? 1 : static_cast<std::size_t>(columns);
    }

  private:
    static locale_t utf8()
    {
        static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
        return locale;
    }

    locale_t locale_;
    locale_t before_;
};

} // namespace

std::string printable(std::string_view text)
{
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const Character character = read_character(text);
        const char32_t code = character.code;
        if (!character.valid || code < 0x20 || (code >= 0x7F && code < 0xA0) || turns_direction(code))
            safe += code == U'\n' || code == U'\t' || code == U'\r' ? ' ' : '?';
        else
            safe += text.substr(0, character.bytes);
        text.remove_prefix(character.bytes);
    }
    return safe;
}

std::size_t display_width(std::string_view text)
{
    const Utf8Scope scope;
    std::size_t columns = 0;
    while (!text.empty()) {
        const Character character = read_character(text);
        columns += scope.width(character.code);
        text.remove_prefix(character.bytes);
    }
    return columns;
}

std::string shortened(std::string_view text, std::size_t width)
{
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    const Utf8Scope scope;
    std::string kept;
    std::size_t columns = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const Character character = read_character(rest);
        columns += scope.width(character.code);
        if (columns > width - 1) break;
        kept += rest.substr(0, character.bytes);
        rest.remove_prefix(character.bytes);
    }
    return kept + "…";
}

} // namespace fathom::cli
