#pragma once
#include <string_view>

namespace fathom {

/// Whether all of the text is UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. NUL is a character.
bool is_utf8(std::string_view text);

} // namespace fathom
