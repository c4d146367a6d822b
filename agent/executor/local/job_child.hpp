#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// The script of a job that has one, in its working folder.
inline constexpr const char* kJobScriptName = "job-script";

/// What the forked child has from its supervisor before there is a job.
struct ChildStart {
    int parent{}; ///< the supervisor
    int stdout_fd{};
    int stderr_fd{};
    int report_fd{};                     ///< a socket, closed by exec(); see below
    int go_fd{};                         ///< gives the folder of the attempt; without one this process ends
    std::vector<std::string> join_files; ///< of its control groups
};

/// What the process that becomes the job sends over report_fd first; its number comes with the message. A sentence
/// after that, or without it, says why the job cannot start.
inline constexpr std::string_view kJobIsHere{"\0", 1};

/// Joins the control groups, waits for the folder of an attempt, starts a child of this process's parent that becomes
/// its job, and ends; never returns. Call it in a freshly forked process.
[[noreturn]] void wait_to_start_job(const ChildStart& start);

} // namespace fathom::agent
