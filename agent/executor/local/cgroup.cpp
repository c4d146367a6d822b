#include "agent/executor/local/cgroup.hpp"

#include "agent/executor/local/trial_process.hpp"
#include "core/base/file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kControllers{"cpuset", "memory", "pids", "io"};
constexpr std::chrono::seconds kKillLimit{5};
constexpr const char* kLeaf = "agent"; ///< the agent's group below the one that it was given, in version 2

/// In version 1.
struct ThrottleFile {
    const char* name;
    std::int64_t IoLimits::* limit;
};
constexpr std::array<ThrottleFile, 4> kThrottleFiles{{
    {"blkio.throttle.read_bps_device", &IoLimits::read_bytes_per_s},
    {"blkio.throttle.write_bps_device", &IoLimits::write_bytes_per_s},
    {"blkio.throttle.read_iops_device", &IoLimits::reads_per_s},
    {"blkio.throttle.write_iops_device", &IoLimits::writes_per_s},
}};

/// Control files take one write each; no temporary file, no rename.
bool write_control(const fs::path& path, const std::string& value)
{
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t written = ::write(fd, value.data(), value.size());
    ::close(fd);
    return written == static_cast<ssize_t>(value.size());
}

std::string read_control(const fs::path& path)
{
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    std::string text = content.str();
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

bool make_folder(const fs::path& path)
{
    std::error_code ignored;
    return ::mkdir(path.c_str(), 0755) == 0 || fs::is_directory(path, ignored);
}

/// Controller name ("" for version 2) -> where its hierarchy is mounted.
std::map<std::string, fs::path> mounted_controllers()
{
    std::map<std::string, fs::path> mounts;
    std::ifstream mount_table("/proc/self/mounts");
    for (std::string device, point, type, options, rest;
         mount_table >> device >> point >> type >> options && std::getline(mount_table, rest);) {
        if (type == "cgroup2") mounts[""] = point;
        if (type != "cgroup") continue;
        for (const std::string& option : split(options, ','))
            mounts[option] = point;
    }
    return mounts;
}

/// Where this process stands: controller name ("" for version 2) -> folder in the mounted hierarchy.
std::map<std::string, fs::path> own_groups()
{
    std::map<std::string, fs::path> mounts = mounted_controllers();
    std::map<std::string, fs::path> groups;
    std::ifstream own("/proc/self/cgroup");
    for (std::string line; std::getline(own, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string names = line.substr(first + 1, second - first - 1);
        for (const std::string& name : names.empty() ? std::vector<std::string>{""} : split(names, ',')) {
            if (!mounts.contains(name)) continue;
            // In a container the path may be the host's; then the mount's root is our own group.
            const fs::path folder = mounts[name] / fs::path(line.substr(second + 1)).relative_path();
            std::error_code ignored;
            groups[name] = fs::is_directory(folder, ignored) ? folder : mounts[name];
            if (name.empty() && groups[name].filename() == kLeaf) groups[name] = groups[name].parent_path();
        }
    }
    return groups;
}

/// A cpuset of version 1 starts empty and must have processors and memory nodes before anything joins.
void inherit_cpuset(const fs::path& parent, const fs::path& child)
{
    for (const char* file : {"cpuset.cpus", "cpuset.mems"}) {
        if (read_control(child / file).empty()) write_control(child / file, read_control(parent / file));
    }
}

/// The folder of a version 1 controller for jobs; empty when it cannot be used.
fs::path jobs_folder_v1(const fs::path& own, const std::string& controller)
{
    const fs::path folder = own / "fathom";
    if (!make_folder(folder)) return {};
    if (controller == "cpuset") inherit_cpuset(own, folder);
    return folder;
}

/// Whether the job is to have that controller.
bool is_wanted(const std::string& controller, const CgroupLimits& limits)
{
    return controller != "io" || limits.io;
}

std::string name_in_version_1(const std::string& controller)
{
    return controller == "io" ? "blkio" : controller;
}

/// The version 2 folder for jobs, its controllers switched on as far as the kernel allows.
fs::path jobs_folder_v2(const fs::path& own, const CgroupLimits& limits)
{
    const fs::path folder = own / "fathom";
    if (!make_folder(folder)) return {};
    for (const char* controller : kControllers) {
        if (!is_wanted(controller, limits)) continue;
        // Refused while processes sit in `own` itself, unless it is the root; enter_leaf_group() took ours away.
        if (write_control(own / "cgroup.subtree_control", std::string("+") + controller))
            write_control(folder / "cgroup.subtree_control", std::string("+") + controller);
    }
    return folder;
}

bool set_memory_limit(const fs::path& folder, std::int64_t bytes, bool version_2)
{
    const std::string text = bytes > 0 ? std::to_string(bytes) : version_2 ? "max" : "-1";
    // Swapping would only make it slow for everybody. Not every kernel counts swap, and without any there is nothing to
    // limit.
    if (version_2) {
        write_control(folder / "memory.swap.max", bytes > 0 ? "0" : "max");
        write_control(folder / "memory.oom.group", "1");
        return write_control(folder / "memory.max", text);
    }
    // The limit with swap must never be the smaller one: going down it comes second, going up first.
    const fs::path limit = folder / "memory.limit_in_bytes";
    const bool is_set = write_control(limit, text);
    write_control(folder / "memory.memsw.limit_in_bytes", text);
    return is_set || write_control(limit, text);
}

/// Without a device yet: whether it could be done.
bool set_io_limits(const fs::path& folder, const IoLimits& limits, bool version_2)
{
    if (limits.device.empty())
        return ::access((folder / (version_2 ? "io.max" : kThrottleFiles.front().name)).c_str(), W_OK) == 0;
    if (version_2) return write_control(folder / "io.max", io_max_line(limits));
    return std::all_of(kThrottleFiles.begin(), kThrottleFiles.end(), [&](const ThrottleFile& file) {
        // 0 takes a limit away.
        return write_control(folder / file.name, limits.device + " " + std::to_string(limits.*file.limit));
    });
}

bool set_limit(const fs::path& folder, const std::string& controller, const CgroupLimits& limits, bool version_2)
{
    if (controller == "cpuset") return write_control(folder / "cpuset.cpus", limits.cpus);
    if (controller == "pids") return write_control(folder / "pids.max", std::to_string(limits.processes));
    if (controller == "io") return !limits.io || set_io_limits(folder, *limits.io, version_2);
    return limits.memory_bytes <= 0 || set_memory_limit(folder, limits.memory_bytes, version_2);
}

/// By trying: some groups take limits and no process.
bool can_be_joined(const fs::path& folder)
{
    const std::string file = (folder / "cgroup.procs").string();
    return succeeds_in_child([&] {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        return fd >= 0 && ::write(fd, "0", 1) == 1;
    });
}

/// A group of one version 1 controller, its limit set; empty when the job cannot have it.
fs::path make_limited_v1(const fs::path& own, const std::string& name, const std::string& controller,
                         const CgroupLimits& limits)
{
    const fs::path jobs = jobs_folder_v1(own, controller);
    if (jobs.empty() || !make_folder(jobs / name)) return {};
    if (controller == "cpuset") inherit_cpuset(jobs, jobs / name);
    if (set_limit(jobs / name, controller, limits, false) && can_be_joined(jobs / name)) return jobs / name;
    ::rmdir((jobs / name).c_str());
    return {};
}

std::vector<int> processes_in(const fs::path& folder)
{
    std::vector<int> pids;
    std::ifstream file(folder / "cgroup.procs");
    for (int pid = 0; file >> pid;)
        pids.push_back(pid);
    return pids;
}

} // namespace

void enter_leaf_group()
{
    const std::map<std::string, fs::path> own = own_groups();
    const auto group = own.find("");
    if (group == own.end() || read_control(group->second / "cgroup.controllers").empty()) return;
    std::error_code ignored;
    if (!fs::exists(group->second / "cgroup.type", ignored)) return; // the root group may hold processes
    const fs::path leaf = group->second / kLeaf;
    if (make_folder(leaf)) write_control(leaf / "cgroup.procs", "0");
}

Cgroup Cgroup::create(const std::string& name, const CgroupLimits& limits)
{
    Cgroup group;
    group.limits_ = limits;
    const std::map<std::string, fs::path> own = own_groups();
    for (const char* controller : kControllers) {
        const auto entry = own.find(name_in_version_1(controller));
        if (entry == own.end() || !is_wanted(controller, limits)) continue;
        const fs::path folder = make_limited_v1(entry->second, name, controller, limits);
        if (folder.empty()) continue;
        group.folders_.push_back(folder);
        group.controllers_.emplace_back(controller);
    }
    if (group.folders_.empty() && own.contains("")) group.create_version_2(own.at(""), name);
    return group;
}

void Cgroup::create_version_2(const fs::path& own, const std::string& name)
{
    const fs::path jobs = jobs_folder_v2(own, limits_);
    if (jobs.empty() || !make_folder(jobs / name)) return;
    if (!can_be_joined(jobs / name)) {
        ::rmdir((jobs / name).c_str());
        return;
    }
    is_version_2_ = true;
    folders_.push_back(jobs / name); // even without controllers it finds every process again
    for (const char* controller : kControllers) {
        if (is_wanted(controller, limits_) && set_limit(jobs / name, controller, limits_, true))
            controllers_.emplace_back(controller);
    }
}

bool Cgroup::limit(const CgroupLimits& limits)
{
    bool are_set = true;
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
        const fs::path& folder = is_version_2_ ? folders_.front() : folders_[i]; // version 2 has one for all
        const std::string& controller = controllers_[i];
        const bool stays = controller == "cpuset"   ? limits.cpus == limits_.cpus
                           : controller == "memory" ? limits.memory_bytes == limits_.memory_bytes
                           : controller == "io"     ? limits.io == limits_.io
                                                    : limits.processes == limits_.processes;
        if (stays) continue;
        const bool is_set = controller == "memory" ? set_memory_limit(folder, limits.memory_bytes, is_version_2_)
                                                   : set_limit(folder, controller, limits, is_version_2_);
        are_set = are_set && is_set;
    }
    limits_ = limits;
    kills_before_ = kills_for_memory();
    return are_set;
}

void Cgroup::remove_left(const std::function<bool(const std::string& name)>& is_left)
{
    for (const auto& [controller, own] : own_groups()) {
        std::error_code error;
        for (fs::directory_iterator entry(own / "fathom", error), end; !error && entry != end; entry.increment(error)) {
            if (is_left(entry->path().filename().string())) ::rmdir(entry->path().c_str());
        }
    }
}

Cgroup Cgroup::find(const std::string& name)
{
    Cgroup group;
    std::set<fs::path> folders;
    for (const auto& [controller, own] : own_groups()) {
        std::error_code ignored;
        if (fs::is_directory(own / "fathom" / name, ignored)) folders.insert(own / "fathom" / name);
    }
    group.folders_.assign(folders.begin(), folders.end());
    return group;
}

std::vector<std::string> Cgroup::join_files() const
{
    std::vector<std::string> files;
    files.reserve(folders_.size());
    for (const fs::path& folder : folders_)
        files.push_back((folder / "cgroup.procs").string());
    return files;
}

std::int64_t Cgroup::kills_for_memory() const
{
    for (const fs::path& folder : folders_) {
        for (const char* file : {"memory.oom_control", "memory.events"}) {
            std::istringstream fields(read_control(folder / file));
            std::int64_t value = 0;
            for (std::string name; fields >> name >> value;) {
                if (name == "oom_kill") return value;
            }
        }
    }
    return 0;
}

bool Cgroup::kill_all() const
{
    const auto deadline = std::chrono::steady_clock::now() + kKillLimit;
    for (;;) {
        bool empty = true;
        for (const fs::path& folder : folders_)
            write_control(folder / "cgroup.kill", "1"); // all at once, where the kernel can
        for (const fs::path& folder : folders_) {
            for (const int pid : processes_in(folder)) {
                empty = false;
                if (pid > 0 && pid != ::getpid()) ::kill(pid, SIGKILL);
            }
        }
        if (empty || std::chrono::steady_clock::now() > deadline) return empty;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void Cgroup::remove()
{
    for (const fs::path& folder : folders_)
        ::rmdir(folder.c_str());
    folders_.clear();
    controllers_.clear();
}

} // namespace fathom::agent
