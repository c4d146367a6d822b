#include "agent/executor/local/trial_process.hpp"

#include "core/base/wait_for_child.hpp"

#include <unistd.h>

namespace fathom::agent {

bool succeeds_in_child(const std::function<bool()>& trial)
{
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(trial() ? 0 : 1);
    int status = 1;
    if (pid > 0) reap_child(pid, status);
    return status == 0;
}

} // namespace fathom::agent
