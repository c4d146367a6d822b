#pragma once

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// Whether an open file or folder lies below one of some folders, or is one of them: by where it really is, so that no
/// link leads out of them.
bool is_below_one_of(int file, const std::vector<std::filesystem::path>& folders);

} // namespace fathom::agent
