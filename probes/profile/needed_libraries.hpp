#pragma once

#include <string>
#include <vector>

namespace fathom::profile {

/// The libraries that a program's file names itself (DT_NEEDED), as the loader will look for them. Empty for a file
/// that is no 64-bit ELF file, or a damaged one.
std::vector<std::string> needed_libraries(const std::string& path);

} // namespace fathom::profile
