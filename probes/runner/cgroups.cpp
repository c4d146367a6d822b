#include "probes/runner/cgroups.hpp"

#include "probes/runner/proc_files.hpp"

#include <sstream>

namespace fathom::probes {
namespace {

void add_with_parents(const std::string& mount, std::string path, int version, std::vector<CgroupFolder>& folders)
{
    while (true) {
        folders.push_back({mount + path + "/", version});
        if (path.empty()) return;
        path.resize(path.rfind('/'));
    }
}

} // namespace

std::vector<CgroupFolder> cgroup_folders(const std::string& controller)
{
    std::vector<CgroupFolder> folders;
    std::istringstream lines(proc_text("/proc/self/cgroup"));
    for (std::string line; std::getline(lines, line);) { // "4:memory:/path", version 2: "0::/path"
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string path = line.substr(second + 1);
        if (path == "/") path.clear();
        if (!path.empty() && path[0] != '/') continue;
        if (controllers == ",,") {
            add_with_parents("/sys/fs/cgroup", path, 2, folders);
            add_with_parents("/sys/fs/cgroup/unified", path, 2, folders);
        } else if (controllers.find("," + controller + ",") != std::string::npos) {
            add_with_parents("/sys/fs/cgroup/" + controller, path, 1, folders);
        }
    }
    return folders;
}

} // namespace fathom::probes
