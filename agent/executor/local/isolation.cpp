#include "agent/executor/local/isolation.hpp"

#include "agent/executor/local/job_init.hpp"
#include "core/base/error_text.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

bool write_own(const char* path, const std::string& text)
{
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = errno;
    ::close(fd);
    errno = error;
    return done;
}

/// Runs in a child that nothing else depends on; empty when all went well.
std::string try_steps(const JobView& view, bool as_root)
{
    if (!as_root) {
        if (const Result<void> entered = enter_user_namespace(); !entered) return entered.error().detail;
    }
    if (!view.own_processes) return enter_view(view);
    const Result<Lifeline> lifeline = make_lifeline();
    if (!lifeline) return lifeline.error().detail;
    const ChildStack stack;
    const Result<int> init = start_init(*lifeline, stack, InitParent::kCaller);
    if (!init) return init.error().detail;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "pipe: " + error_text(errno);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const std::string problem = enter_view(view);
        static_cast<void>(!::write(ends[1], problem.data(), problem.size()));
        ::_exit(0);
    }
    ::close(ends[1]);
    std::array<char, 1000> text{};
    const ssize_t size = pid < 0 ? 0 : ::read(ends[0], text.data(), text.size());
    if (pid > 0) ::waitpid(pid, nullptr, 0);
    static_cast<void>(end_init({*init, lifeline->our_end}));
    return pid < 0 ? "fork: " + error_text(errno)
                   : std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

/// Why it does not work; empty when it does.
std::string why_not(const JobView& view, bool as_root)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "pipe: " + error_text(errno);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const std::string problem = try_steps(view, as_root);
        static_cast<void>(!::write(ends[1], problem.data(), problem.size()));
        ::_exit(problem.empty() ? 0 : 1);
    }
    ::close(ends[1]);
    std::array<char, 1000> text{};
    const ssize_t size = pid < 0 ? 0 : ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    int status = 1;
    if (pid > 0) reap_child(pid, status);
    if (status == 0) return {};
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "a process to try it with failed";
}

} // namespace

Result<void> enter_user_namespace()
{
    const std::string user = std::to_string(::geteuid());
    const std::string group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER) != 0)
        return Error{Errc::kUnavailable, "cannot make a user namespace: " + error_text(errno)};
    if (!write_own("/proc/self/setgroups", "deny") || !write_own("/proc/self/uid_map", user + " " + user + " 1") ||
        !write_own("/proc/self/gid_map", group + " " + group + " 1"))
        return Error{Errc::kUnavailable, "cannot keep the user in a user namespace: " + error_text(errno)};
    return {};
}

Isolation try_isolation(const JobView& view, bool as_root)
{
    JobView wanted = view;
    wanted.own_processes = true;
    const std::string all = why_not(wanted, as_root);
    if (all.empty()) return {.user_namespace = !as_root, .files = true, .processes = true};
    wanted.own_processes = false;
    const std::string files = why_not(wanted, as_root);
    if (files.empty()) return {.user_namespace = !as_root, .files = true, .missing = all};
    return {.missing = files};
}

} // namespace fathom::agent
