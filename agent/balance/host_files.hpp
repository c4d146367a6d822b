#pragma once

#include <filesystem>
#include <string>

namespace fathom::agent {

/// Where the system shows its counters and knobs; tests have folders of their own.
struct HostFiles {
    std::filesystem::path proc = "/proc";
    std::filesystem::path cpus = "/sys/devices/system/cpu";
    std::filesystem::path cgroups = "/sys/fs/cgroup"; ///< version 2
    std::filesystem::path resctrl = "/sys/fs/resctrl";
    std::string nvml_library = "libnvidia-ml.so.1";
};

} // namespace fathom::agent
