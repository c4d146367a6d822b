#pragma once

#include <string>
#include <vector>

namespace fathom::probes {

/// A folder of the kernel's control groups.
struct CgroupFolder {
    std::string path; ///< ends with a slash
    int version{};    ///< 1 or 2: they have other files
};

/// The control group that holds this process and those above it, as far as they can be seen from here.
/// @param controller  "memory", "cpu"
std::vector<CgroupFolder> cgroup_folders(const std::string& controller);

} // namespace fathom::probes
