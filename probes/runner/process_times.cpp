#include "probes/runner/process_times.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace fathom::probes {
namespace {

/// A process that starts others without end must not keep us here.
constexpr int kMaxProcesses = 4096;

/// The start of a small file. Not proc_text: this is read twice a sample, once a thread, and takes 2 µs this way.
std::string_view file_start(const std::string& path, std::array<char, 256>& buffer)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t length = read(file, buffer.data(), buffer.size());
    close(file);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// Takes the next whole number off the front; empty when there is none.
std::optional<std::int64_t> next_number(std::string_view& text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return take_number<std::int64_t>(text);
}

void add_thread(const std::string& folder, std::string_view id, ProcessTimes& times)
{
    std::array<char, 256> buffer{};
    std::string_view text = file_start(folder + "/schedstat", buffer); // "used_ns waited_ns timeslices"
    const std::optional<std::int64_t> used_ns = next_number(text);
    const std::optional<std::int64_t> waited_ns = next_number(text);
    times.used_s += static_cast<double>(used_ns.value_or(0)) * 1e-9;
    const double waited_s = static_cast<double>(waited_ns.value_or(0)) * 1e-9;
    times.waited_s += waited_s;
    if (const std::optional<std::int64_t> number = next_number(id)) times.thread_waited_s[*number] = waited_s;
}

void add_process(const std::string& process, ProcessTimes& times, int& processes)
{
    if (++processes > kMaxProcesses) return;
    const std::string tasks = "/proc/" + process + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(tasks.c_str()), closedir);
    if (!folder) return; // it has ended
    while (const dirent* const entry = readdir(folder.get())) {
        if (entry->d_name[0] == '.') continue;
        const std::string thread = tasks + "/" + entry->d_name;
        add_thread(thread, entry->d_name, times);
        std::array<char, 256> buffer{};
        std::string_view children = file_start(thread + "/children", buffer);
        while (const std::optional<std::int64_t> child = next_number(children))
            add_process(std::to_string(*child), times, processes);
    }
}

} // namespace

ProcessTimes process_tree_times()
{
    ProcessTimes times;
    int processes = 0;
    add_process("self", times, processes);
    return times;
}

ProcessorTimes processor_times(std::string_view stat, const std::vector<int>& cpus)
{
    // "cpu0 user nice system idle iowait irq softirq steal guest guest_nice", in ticks; user includes guest.
    constexpr std::size_t kIdle = 3;
    constexpr std::size_t kWaitsForInput = 4;
    constexpr std::size_t kSteal = 7;
    double busy_ticks = 0;
    double stolen_ticks = 0;
    while (stat.starts_with("cpu")) {
        std::string_view line = stat.substr(0, stat.find('\n'));
        stat.remove_prefix(std::min(stat.size(), line.size() + 1));
        line.remove_prefix(3);
        if (line.starts_with(' ')) continue; // the sum over all
        const std::optional<std::int64_t> cpu = next_number(line);
        if (!cpu || !std::binary_search(cpus.begin(), cpus.end(), *cpu)) continue;
        for (std::size_t field = 0; field <= kSteal; ++field) {
            const auto ticks = static_cast<double>(next_number(line).value_or(0));
            if (field == kSteal)
                stolen_ticks += ticks;
            else if (field != kIdle && field != kWaitsForInput)
                busy_ticks += ticks;
        }
    }
    const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    return {.busy_s = busy_ticks / ticks_per_s, .stolen_s = stolen_ticks / ticks_per_s};
}

} // namespace fathom::probes
