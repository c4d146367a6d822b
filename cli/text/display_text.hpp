#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom::cli {

/// Text that is safe to show: control characters and bytes that are not UTF-8 become `?`, so that a
/// job's name cannot steer the reader's terminal. Line ends and tabs become spaces.
std::string printable(std::string_view text);

/// Columns that printable UTF-8 takes on a terminal: East Asian characters take two, accents none.
std::size_t display_width(std::string_view text);

/// At most `width` columns, the last one `…` where something was cut off.
std::string shortened(std::string_view text, std::size_t width);

} // namespace fathom::cli
