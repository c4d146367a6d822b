#pragma once

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// What a job sees of a home folder that is its user's and not its own: paths below it.
struct HomeView {
    std::vector<std::filesystem::path> folders;
    std::vector<std::filesystem::path> programs; ///< files that may be executed
    std::vector<std::filesystem::path> links;
};

/// All folders, programs and links that stand in it, but for names that begin with a dot: keys, passwords and what was
/// typed are kept under such names, and new ones come up all the time. Of those only folders are shown that tools are
/// known to install programs in. Blocks.
/// @param home  by any path that leads to it, also through a descriptor.
HomeView view_home(const std::filesystem::path& home);

} // namespace fathom::agent
