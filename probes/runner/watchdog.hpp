#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace fathom::probes {

/// Ends the process when its time is up: a single call of a library may last longer than the whole
/// task may, and no library can be asked to stop.
/// Thread-safe.
class Watchdog {
  public:
    /// From `limit_s` seconds after `start` on, the process ends with `exit_code` and a message on
    /// standard error that names the limit, the time passed and what was done last.
    Watchdog(std::chrono::steady_clock::time_point start, double limit_s, int exit_code);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// What the message will say: "sample 3 of 7 of dgemm(…)".
    void set_progress(const std::string& what);

  private:
    void watch();

    std::chrono::steady_clock::time_point start_;
    double limit_s_;
    int exit_code_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stop_ = false;
    std::string progress_ = "start-up";
    std::thread thread_;
};

/// SIGTERM and SIGINT end the process at once with exit code 128 + n, also in the middle of a
/// library call. Nothing is half-written: the result is printed as one line at the very end.
void end_on_signals();

} // namespace fathom::probes
