#include "core/base/wait_for_child.hpp"

#include "core/base/open_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace fathom {
namespace {

/// Between two looks at a child that has no descriptor.
constexpr std::chrono::milliseconds kChildLook{100};

} // namespace

bool wait_for_input(int descriptor, std::chrono::steady_clock::time_point deadline)
{
    constexpr std::int64_t kMaxPoll_ms = 3'600'000;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waiting{descriptor, POLLIN, 0};
        const auto limit = std::clamp<std::int64_t>(left.count(), 0, kMaxPoll_ms);
        const int ready = ::poll(&waiting, 1, static_cast<int>(limit));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true; // who reads is told
        if (left.count() <= 0) return false;
    }
}

bool wait_for_child(pid_t child, std::chrono::steady_clock::time_point deadline)
{
    const OpenFile end = open_child_end(child);
    if (end.number() < 0) return true; // it is no child of ours; waitpid() says so
    return wait_for_input(end.number(), deadline);
}

OpenFile open_child_end(pid_t child)
{
    return OpenFile(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
}

bool has_child_ended(pid_t child)
{
    siginfo_t info{};
    const int looked = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    // No child of ours any more: it has ended, and was reaped already.
    return looked != 0 ? errno == ECHILD : info.si_pid == child;
}

int child_poll_limit_ms(const OpenFile& end)
{
    return end.number() < 0 ? static_cast<int>(kChildLook.count()) : -1;
}

bool wait_for_child_or_input(pid_t child, const OpenFile& end, int descriptor)
{
    const int limit_ms = child_poll_limit_ms(end);
    for (;;) {
        // poll() ignores a negative descriptor.
        std::array<pollfd, 2> waits{{{end.number(), POLLIN, 0}, {descriptor, POLLIN, 0}}};
        const int ready = ::poll(waits.data(), waits.size(), limit_ms);
        if (ready > 0 && waits[1].revents != 0) return false;
        if (has_child_ended(child)) return true;
    }
}

pid_t reap_child(pid_t child, int& status)
{
    pid_t ended = 0;
    do
        ended = ::waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended;
}

} // namespace fathom
