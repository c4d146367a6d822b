#pragma once

#include "agent/executor/local/job_view.hpp"
#include "core/base/json_reader.hpp"

namespace fathom::agent {

/// What keeps a job from other jobs and from the agent. What is said here is done for every job, or the job does
/// not start: found by trying when the agent starts, it then holds for all its attempts.
struct Isolation {
    bool user_namespace{};        ///< the agent is not root, and its namespaces belong to one of users
    bool files{};                 ///< mount and IPC namespaces: a view of its own (JobView)
    bool processes{};             ///< PID namespace: it sees, signals and leaves behind no process but its own
    std::string missing{};        ///< why not all of these; for the administrator
    bool filters_system_calls{};  ///< those that no job needs are refused (SystemCallFilter)
    std::string filter_missing{}; ///< why not; likewise
    bool limits_io{};             ///< reads and writes of its disk, by control groups (IoLimits)
    std::string io_missing{};     ///< why not, where they shall be; likewise
};

/// Tries in a process of its own, with `view` as the jobs would have it (without a working folder).
/// @param as_root  false: in a user namespace.
Isolation try_isolation(const JobView& view, bool as_root);

/// Makes this process, which must have one thread, the owner of a user namespace in which its user is the same.
/// @error kUnavailable  the system does not allow it.
Result<void> enter_user_namespace();

} // namespace fathom::agent
