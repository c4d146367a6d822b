#include "probes/runner/watchdog.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace fathom::probes {

Watchdog::Watchdog(std::chrono::steady_clock::time_point start, double limit_s, int exit_code)
    : start_(start), limit_s_(limit_s), exit_code_(exit_code), thread_([this] { watch(); })
{
}

Watchdog::~Watchdog()
{
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    stopped_.notify_one();
    thread_.join();
}

void Watchdog::set_progress(const std::string& what)
{
    const std::lock_guard lock(mutex_);
    progress_ = what;
}

void Watchdog::watch()
{
    const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(limit_s_));
    std::unique_lock lock(mutex_);
    if (stopped_.wait_until(lock, start_ + limit, [this] { return stop_; })) return;
    const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    fmt::print(stderr, "fathom-probe: the task took longer than its limit of {:g} s: stopped after {:.2f} s at {}\n",
               limit_s_, passed_s, progress_);
    std::fflush(stderr);
    _exit(exit_code_); // not exit: the other threads are in the middle of computing
}

void end_on_signals()
{
    struct sigaction action{};
    action.sa_handler = [](int signal) { _exit(128 + signal); };
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGTERM, SIGINT})
        sigaction(signal, &action, nullptr);
}

} // namespace fathom::probes
