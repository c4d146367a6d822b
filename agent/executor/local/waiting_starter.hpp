#pragma once

#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/local/child_stack.hpp"

#include <atomic>
#include <vector>

namespace fathom::agent {

/// A child that has joined the control groups of the next job before there is one, and waits. To move a process into
/// control groups takes the kernel about ten milliseconds, in which every processor has to pass a point where it uses
/// none of what is changed; children of that process are in the groups at once. It uses its parent's memory and
/// descriptors. Dies with its parent. For processes with one thread.
class WaitingStarter {
  public:
    /// @param stack  of the child, as long as it lives; must outlive this.
    explicit WaitingStarter(const ChildStack& stack) : stack_(&stack) {}
    ~WaitingStarter() { end(); }
    WaitingStarter(const WaitingStarter&) = delete;
    WaitingStarter& operator=(const WaitingStarter&) = delete;

    /// Makes the child, which joins by itself. Where children may not use this process's memory there is none.
    void make(const Cgroup& cgroup);
    /// Has the child run `body` with `argument`, which may use the C library, and end with what that returns; waits for
    /// its end.
    /// @return false: there is no child, it has died, or it could not join, and nothing was run.
    bool run(int (*body)(void*), void* argument);
    /// Ends the child, if there is one: before the groups are removed, or all in them are killed.
    void end();

  private:
    static int be_waiting(void* starter);
    void reap();
    void close_files();

    const ChildStack* stack_;
    int pid_ = -1;
    int parent_ = -1;
    int go_ = -1;                         ///< an eventfd
    std::vector<int> join_files_;         ///< open for writing
    std::atomic<bool> has_begun_ = false; ///< written by the child
    int (*body_)(void*) = nullptr;
    void* argument_ = nullptr;
};

} // namespace fathom::agent
