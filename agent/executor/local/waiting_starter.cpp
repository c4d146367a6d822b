#include "agent/executor/local/waiting_starter.hpp"

#include "agent/executor/local/plain_syscall.hpp"
#include "core/base/wait_for_child.hpp"

#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::agent {

void WaitingStarter::make(const Cgroup& cgroup)
{
    end();
    // Until it is told to run, its parent goes on: by plain system calls only.
    if (!may_share_memory() || !kHasPlainSyscall) return;
    go_ = ::eventfd(0, EFD_CLOEXEC);
    bool is_open = go_ >= 0;
    for (const std::string& file : cgroup.join_files()) {
        join_files_.push_back(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
        is_open = is_open && join_files_.back() >= 0;
    }
    parent_ = ::getpid();
    has_begun_ = false;
    // The pipes of a job are made when there is one: the descriptors are one table, too.
    if (is_open) pid_ = stack_->start(CLONE_VM | CLONE_FILES, &be_waiting, this);
    if (pid_ < 0) close_files();
}

int WaitingStarter::be_waiting(void* starter)
{
    auto& self = *static_cast<WaitingStarter*>(starter);
    plain_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    plain_syscall(SYS_prctl, PR_SET_NAME, syscall_address("fathom-starter"));
    if (plain_syscall(SYS_getppid) != self.parent_) plain_syscall(SYS_exit_group, 1);
    for (const int file : self.join_files_) {
        if (plain_syscall(SYS_write, file, syscall_address("0"), 1) != 1) plain_syscall(SYS_exit_group, 1);
    }
    std::uint64_t count = 0;
    while (plain_syscall(SYS_read, self.go_, syscall_address(&count), sizeof count) == -EINTR) {
    }
    if (count == 0) plain_syscall(SYS_exit_group, 1);
    // From here on the parent does nothing but wait for our end.
    self.has_begun_ = true;
    return self.body_(self.argument_);
}

bool WaitingStarter::run(int (*body)(void*), void* argument)
{
    if (pid_ < 0) return false;
    body_ = body;
    argument_ = argument;
    const std::uint64_t one = 1;
    if (::write(go_, &one, sizeof one) != sizeof one) ::kill(pid_, SIGKILL);
    reap();
    return has_begun_;
}

void WaitingStarter::end()
{
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    reap();
}

void WaitingStarter::reap()
{
    int status = 0;
    reap_child(pid_, status);
    pid_ = -1;
    close_files();
}

void WaitingStarter::close_files()
{
    if (go_ >= 0) ::close(go_);
    go_ = -1;
    for (const int file : join_files_) {
        if (file >= 0) ::close(file);
    }
    join_files_.clear();
}

} // namespace fathom::agent
