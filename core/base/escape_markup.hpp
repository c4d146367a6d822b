#pragma once
#include <string>
#include <string_view>

namespace fathom {

/// The text as it stands in HTML, XML or SVG, between tags and in quoted attributes: with entities for & < > " and '.
std::string escape_markup(std::string_view text);

} // namespace fathom
