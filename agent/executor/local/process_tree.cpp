#include "agent/executor/local/process_tree.hpp"

#include "core/base/file.hpp"
#include "core/base/parse_number.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fathom::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kKillLimit{10};

std::vector<int> all_processes()
{
    std::vector<int> pids;
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (const auto pid = parse_number<int>(name)) pids.push_back(*pid);
    }
    return pids;
}

int parent_of(int pid)
{
    const Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat", 65536);
    if (!stat) return 0;
    const std::size_t name_end = stat->rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(stat->substr(name_end + 1));
    std::string state;
    int parent = 0;
    fields >> state >> parent;
    return parent;
}

/// Processes whose parent a process is, as the kernel lists them; where it has no such list, by a look at every
/// process, of which a center with many jobs has tens of thousands.
std::vector<int> children_of(int process)
{
    std::vector<int> found;
    const std::filesystem::path threads = "/proc/" + std::to_string(process) + "/task";
    bool is_listed = false;
    std::error_code error;
    for (fs::directory_iterator thread(threads, error), end; !error && thread != end; thread.increment(error)) {
        std::ifstream list(thread->path() / "children");
        is_listed = is_listed || list;
        for (int pid = 0; list >> pid;)
            found.push_back(pid);
    }
    if (is_listed) return found;
    for (const int pid : all_processes()) {
        if (parent_of(pid) == process) found.push_back(pid);
    }
    return found;
}

} // namespace

void adopt_orphans()
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::int64_t kill_descendants()
{
    // Killing our children makes their children ours: round by round none is left.
    const auto deadline = std::chrono::steady_clock::now() + kKillLimit;
    std::int64_t most_resident_kib = 0;
    while (std::chrono::steady_clock::now() < deadline) {
        pid_t reaped = 0;
        rusage use{};
        while ((reaped = ::wait4(-1, nullptr, WNOHANG, &use)) > 0)
            most_resident_kib = std::max<std::int64_t>(most_resident_kib, use.ru_maxrss);
        if (reaped < 0 && errno == ECHILD) break;
        for (const int pid : children_of(::getpid()))
            ::kill(pid, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return most_resident_kib;
}

bool has_children()
{
    siginfo_t found{};
    return ::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

std::vector<int> descendants_of(int process)
{
    std::vector<int> found = children_of(process);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::vector<int> below = children_of(found[i]);
        found.insert(found.end(), below.begin(), below.end());
    }
    return found;
}

void kill_by_environment(const std::string& attempt_id)
{
    const std::string wanted = "FATHOM_ATTEMPT_ID=" + attempt_id;
    for (const int pid : all_processes()) {
        if (pid == ::getpid()) continue;
        const Result<std::string> environment = read_file("/proc/" + std::to_string(pid) + "/environ", 4UL << 20U);
        if (!environment) continue;
        std::istringstream lines(*environment);
        for (std::string line; std::getline(lines, line, '\0');) {
            if (line == wanted) ::kill(pid, SIGKILL);
        }
    }
}

} // namespace fathom::agent
