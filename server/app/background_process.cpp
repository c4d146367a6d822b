#include "server/app/background_process.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace fathom::server {
namespace {

double tick_s()
{
    return 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

} // namespace

BackgroundProcess::BackgroundProcess(pid_t child) : child_(child), looked_at_(std::chrono::steady_clock::now())
{
    kill(child_, SIGSTOP);
    last_ = read();
}

BackgroundProcess::Times BackgroundProcess::read() const
{
    Times times;
    std::ifstream host("/proc/stat");
    for (std::string line; std::getline(host, line) && line.starts_with("cpu");) {
        if (line.starts_with("cpu ")) continue;
        std::istringstream words(line);
        std::string name;
        words >> name;
        double busy = 0;
        double ticks = 0;
        constexpr int kIdle = 3; // user, nice, system, idle, iowait, irq, softirq, steal
        constexpr int kWaiting = 4;
        constexpr int kFields = 8;
        for (int field = 0; field < kFields && words >> ticks; ++field) {
            if (field != kIdle && field != kWaiting) busy += ticks;
        }
        times.busy_s.push_back(busy * tick_s());
    }
    std::ifstream own("/proc/" + std::to_string(child_) + "/stat");
    std::string text;
    std::getline(own, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return times;
    std::istringstream words(text.substr(name_end + 1));
    std::string word;
    constexpr int kUser = 14; // proc(5) numbers them so; the first here is the third
    constexpr int kSystem = 15;
    constexpr int kProcessor = 39;
    for (int field = 3; words >> word; ++field) {
        if (field == kUser || field == kSystem) times.own_s += std::stod(word) * tick_s();
        if (field == kProcessor) times.own_processor = std::stoul(word);
    }
    return times;
}

void BackgroundProcess::look()
{
    const auto now = std::chrono::steady_clock::now();
    Times times = read();
    std::vector<double> busy_s = times.busy_s;
    for (std::size_t i = 0; i < busy_s.size() && i < last_.busy_s.size(); ++i)
        busy_s[i] -= last_.busy_s[i];
    if (busy_s.empty()) busy_s.push_back(0);
    const bool was_running = pace_.may_run();
    const double elapsed_s = std::chrono::duration<double>(now - looked_at_).count();
    const bool may_run = pace_.next({elapsed_s, busy_s, times.own_s - last_.own_s, times.own_processor});
    if (may_run != was_running) kill(child_, may_run ? SIGCONT : SIGSTOP);
    last_ = std::move(times);
    looked_at_ = now;
}

} // namespace fathom::server
