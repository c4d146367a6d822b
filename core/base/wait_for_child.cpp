#include "core/base/wait_for_child.hpp"

#include "core/base/open_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom {

bool wait_for_input(int descriptor, std::chrono::steady_clock::time_point deadline)
{
    constexpr std::int64_t kLongestPoll_ms = 3'600'000;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd waiting{descriptor, POLLIN, 0};
        const auto limit = std::clamp<std::int64_t>(left.count(), 0, kLongestPoll_ms);
        const int ready = ::poll(&waiting, 1, static_cast<int>(limit));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return true; // who reads is told
        if (left.count() <= 0) return false;
    }
}

bool wait_for_child(pid_t child, std::chrono::steady_clock::time_point deadline)
{
    const OpenFile end(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (end.number() < 0) return true; // it is no child of ours; waitpid() says so
    return wait_for_input(end.number(), deadline);
}

} // namespace fathom
