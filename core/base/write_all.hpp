#pragma once

#include <string_view>

namespace fathom {

/// Writes all of it to an open file, pipe or socket, however many calls that takes. Blocks where the descriptor does.
/// @return false when it cannot; errno says why
bool write_all(int descriptor, std::string_view content);

} // namespace fathom
