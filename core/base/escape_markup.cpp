#include "core/base/escape_markup.hpp"

#include <string>
#include <string_view>

namespace fathom {
namespace {

std::string_view entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return {};
    }
}

} // namespace

std::string escape_markup(std::string_view text)
{
    std::string markup;
    markup.reserve(text.size());
    for (const char c : text) {
        const std::string_view entity = entity_of(c);
        if (entity.empty())
            markup += c;
        else
            markup += entity;
    }
    return markup;
}

} // namespace fathom
