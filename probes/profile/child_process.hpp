#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::profile {

/// How a program ended.
struct ProgramEnd {
    int exit_code{}; ///< of a program that exited
    int signal{};    ///< that ended it; 0: it exited
    double cpu_s{};  ///< of it and all the children that it waited for
};

/// What is done while the program runs.
struct WhileRunning {
    std::function<void(pid_t)> started;
    std::function<std::chrono::milliseconds()> tick; ///< @return how long until the next one
    std::function<void()> asked_to_end;              ///< SIGTERM came; it has been passed on
};

/// Runs a program in the foreground: its standard streams, terminal, working folder and signal handling are the
/// caller's own. Signals that a terminal sends reach it directly; others that are sent to this process are passed
/// on to it. Returns when it has ended.
/// @error kNotFound, kForbidden  it could not be started.
Result<ProgramEnd> run_program(const std::string& path, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment, const WhileRunning& meanwhile);

} // namespace fathom::profile
