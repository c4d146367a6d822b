#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// What the forked child must know to become the job.
struct ChildPlan {
    const SupervisorOrder& order;
    const AttemptFolder& folder;
    std::vector<std::string> join_files; ///< of its control groups
    std::vector<std::string> command;
    int parent{}; ///< the supervisor
    int stdout_fd{};
    int stderr_fd{};
    int report_fd{}; ///< closed by exec(); before that, takes one sentence why the job cannot start
};

/// Turns this freshly forked process into the job; never returns.
[[noreturn]] void become_job(const ChildPlan& plan);

} // namespace fathom::agent
