#pragma once

#include <sys/types.h>

namespace fathom::agent {

/// Whether a child may use this process's memory until it starts another program: a memory of its own is most of what
/// a process costs. Only where this process is root: a job of the same user makes its memory readable for a moment
/// (limit_resources). And not under sanitizers, which keep notes of each thread in there.
bool may_share_memory();

/// The stack of a child process, for one at a time. Memory is taken as it is used.
class ChildStack {
  public:
    ChildStack();
    ~ChildStack();
    ChildStack(const ChildStack&) = delete;
    ChildStack& operator=(const ChildStack&) = delete;

    /// Starts a child of a process with one thread by clone(2), which runs `body` and ends with what that returns.
    /// @param flags  as clone() has them; SIGCHLD is added.
    /// @return its number, or -1 and errno.
    pid_t start(int flags, int (*body)(void*), void* argument) const;

  private:
    void* memory_;
};

} // namespace fathom::agent
