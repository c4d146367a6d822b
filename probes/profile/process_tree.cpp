#include "probes/profile/process_tree.hpp"

#include "core/base/parse_number.hpp"
#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr int kLooksBetweenSearches = 5; ///< new processes and threads are looked for less often

std::string folder_of(pid_t process)
{
    return "/proc/" + std::to_string(process);
}

/// A /proc file in one read: these are short, and read a hundred times a second.
std::string read_short(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "";
    std::array<char, 4096> buffer{};
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    ::close(fd);
    return bytes > 0 ? std::string(buffer.data(), static_cast<std::size_t>(bytes)) : "";
}

/// The numbered entries of a /proc folder.
std::vector<pid_t> numbers_in(const std::string& path)
{
    std::vector<pid_t> numbers;
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) return numbers;
    while (const dirent* entry = ::readdir(folder)) { // NOLINT(concurrency-mt-unsafe): one thread
        if (const auto number = parse_number<pid_t>(entry->d_name)) numbers.push_back(*number);
    }
    ::closedir(folder);
    return numbers;
}

/// The fields of a stat file after the name, which may hold anything.
struct Stat {
    char state{'?'};
    std::uint64_t user_ticks{};
    std::uint64_t system_ticks{};
    std::uint64_t children_ticks{};
};

Stat parse_stat(const std::string& text)
{
    Stat stat;
    const std::size_t end_of_name = text.rfind(") ");
    if (end_of_name == std::string::npos) return stat;
    const char* at = text.c_str() + end_of_name + 2;
    stat.state = *at;
    for (int field = 3; *at != '\0' && field < 17; ++field) {
        at += std::string_view(at).find(' ') == std::string_view::npos ? 0 : std::string_view(at).find(' ') + 1;
        const std::uint64_t value = std::strtoull(at, nullptr, 10);
        if (field + 1 == 14) stat.user_ticks = value;
        if (field + 1 == 15) stat.system_ticks = value;
        if (field + 1 == 16 || field + 1 == 17) stat.children_ticks += value;
    }
    return stat;
}

std::string name_in(const std::string& stat)
{
    const std::size_t begin = stat.find('(');
    const std::size_t end = stat.rfind(')');
    return begin == std::string::npos || end == std::string::npos || end < begin
               ? "?"
               : stat.substr(begin + 1, end - begin - 1);
}

} // namespace

void ProcessTree::find_processes(const std::vector<pid_t>& known)
{
    std::vector<pid_t> found{root_};
    std::set<pid_t> listed{root_};
    for (const pid_t process : known) {
        if (listed.insert(process).second) found.push_back(process);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string tasks = folder_of(found[i]) + "/task/";
        for (const pid_t thread : numbers_in(tasks)) {
            const std::string children = read_short(tasks + std::to_string(thread) + "/children");
            const char* at = children.c_str();
            char* end = nullptr;
            for (long child = std::strtol(at, &end, 10); end != at; child = std::strtol(at, &end, 10)) {
                if (listed.insert(static_cast<pid_t>(child)).second) found.push_back(static_cast<pid_t>(child));
                at = end;
            }
        }
    }
    alive_ = std::move(found);
}

bool ProcessTree::moves_bytes(pid_t process)
{
    constexpr std::uint64_t kSomething = 65536; ///< bytes since the last look: less is no I/O to speak of
    const std::string text = read_short(folder_of(process) + "/io");
    const auto field = [&](std::string_view key) {
        return static_cast<std::uint64_t>(probes::leading_number(probes::proc_value(text, key)).value_or(0));
    };
    const std::uint64_t bytes = field("rchar") + field("wchar");
    std::uint64_t& last = io_bytes_[process];
    const bool moves = bytes > last + kSomething;
    last = bytes;
    return moves;
}

ThreadView ProcessTree::look_at(pid_t process, pid_t thread, bool moves)
{
    ThreadView view{process, thread};
    const std::string text = read_short(folder_of(process) + "/task/" + std::to_string(thread) + "/stat");
    const Stat stat = parse_stat(text);
    std::uint64_t& last = system_ticks_[thread];
    // A system call that copies bytes from or to the page cache runs, but what it does is I/O.
    const bool in_kernel = stat.system_ticks > last;
    last = stat.system_ticks;
    if (stat.state == 'D') view.state = ThreadState::kIo;
    if (stat.state == 'R') view.state = in_kernel && moves ? ThreadState::kIo : ThreadState::kRunning;
    if (stat.state != 'R' && in_kernel && moves) view.state = ThreadState::kIo;
    return view;
}

std::vector<ThreadView> ProcessTree::look(const std::vector<pid_t>& known)
{
    if (looks_++ % kLooksBetweenSearches == 0) find_processes(known);
    std::vector<ThreadView> views;
    std::vector<pid_t> alive;
    std::uint64_t ticks = 0;
    for (const pid_t process : alive_) {
        const std::string text = read_short(folder_of(process) + "/stat");
        const Stat stat = parse_stat(text);
        if (stat.state == '?' || stat.state == 'Z' || stat.state == 'X') continue;
        alive.push_back(process);
        seen_[process] = name_in(text);
        ticks += stat.user_ticks + stat.system_ticks + stat.children_ticks;
        const bool moves = moves_bytes(process);
        for (const pid_t thread : numbers_in(folder_of(process) + "/task"))
            views.push_back(look_at(process, thread, moves));
    }
    alive_ = std::move(alive);
    cpu_s_ = static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return views;
}

} // namespace fathom::profile
