#include "agent/executor/local/job_limits.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr rlim_t kMaxOpenFiles = 65536;
constexpr const char* kKilledFirst = "500"; ///< of 1000, which would be before everything else on the host

void lower(__rlimit_resource_t resource, rlim_t most)
{
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    limit.rlim_max = std::min(limit.rlim_max, most);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
}

} // namespace

std::int64_t most_processes(std::int64_t cores)
{
    return 256 + 64 * std::max<std::int64_t>(cores, 1);
}

void limit_resources(const SupervisorOrder& order)
{
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_NOFILE, kMaxOpenFiles);
    if (order.disk_limit_bytes > 0) lower(RLIMIT_FSIZE, static_cast<rlim_t>(order.disk_limit_bytes));
    // The kernel counts by user, so it says something about a job only where its user is its own.
    if (order.has_own_user) lower(RLIMIT_NPROC, static_cast<rlim_t>(most_processes(order.run.cores)));
    // A process with a secret memory may not write here, unless it is root, whose memory here is its parent's, too
    // (may_share_memory). What is left to hide goes with exec().
    if (::geteuid() != 0) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    static_cast<void>(!::write(fd, kKilledFirst, 3));
    ::close(fd);
}

} // namespace fathom::agent
