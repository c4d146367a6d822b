#include "probes/upload/host_limits.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>

namespace fathom::probes {
namespace {

constexpr std::uint64_t kMegabyte = 1ULL << 20U;
/// What the host itself and the system's libraries may take on top of the operator's memory.
constexpr std::uint64_t kOwnData = 64 * kMegabyte;
constexpr std::uint64_t kOwnAddresses = 512 * kMegabyte;
/// A thread's stack, and the addresses that the allocator reserves for a thread's arena without using them.
constexpr std::uint64_t kDataOfThread = 10 * kMegabyte;
constexpr std::uint64_t kAddressesOfThread = 144 * kMegabyte;
/// Threads of libraries that do not compute, and the sandbox's own processes.
constexpr std::uint64_t kSpareThreads = 64;
constexpr std::uint64_t kLargestFile = 16 * kMegabyte;

/// System calls that computing, its threads, its memory and its own files need. Any other one is forbidden, also those
/// that kernels will have one day.
constexpr std::array kAllowed{
    // memory
    "brk", "madvise", "membarrier", "mincore", "mlock", "mlock2", "mmap", "mprotect", "mremap", "msync", "munlock",
    "munmap", "get_mempolicy", "mbind", "set_mempolicy",
    // threads and time
    "arch_prctl", "clock_getres", "clock_gettime", "clock_nanosleep", "exit", "exit_group", "futex", "futex_waitv",
    "get_robust_list", "getcpu", "getpid", "getppid", "getrusage", "gettid", "gettimeofday", "nanosleep", "pause",
    "restart_syscall", "rseq", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "sched_yield", "set_robust_list", "set_tid_address", "time", "times",
    // signals, in its own processes only
    "kill", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
    "sigaltstack", "tgkill", "tkill",
    // files, as far as the sandbox shows any
    "access", "chdir", "close", "close_range", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64",
    "fallocate", "fchdir", "fcntl", "fdatasync", "flock", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd",
    "getdents64", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "pipe", "pipe2", "pread64",
    "preadv", "pwrite64", "pwritev", "read", "readahead", "readlink", "readlinkat", "readv", "rename", "renameat",
    "renameat2", "rmdir", "stat", "statfs", "statx", "truncate", "umask", "unlink", "unlinkat", "write", "writev",
    // waiting
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "poll", "ppoll", "pselect6",
    "select",
    // who and where it is
    "getegid", "geteuid", "getgid", "getgroups", "getpgrp", "getrandom", "getresgid", "getresuid", "getrlimit",
    "getsid", "getuid", "prctl", "prlimit64", "setrlimit", "sysinfo", "uname",
    // what the host speaks with its parent over
    "recvmsg", "sendmsg", "sendto", "recvfrom", "shutdown"};

/// What a network needs besides; `socket` has rules of its own.
constexpr std::array kAllowedWithNetwork{"bind",       "connect",  "getpeername", "getsockname",
                                         "getsockopt", "recvmmsg", "sendmmsg",    "setsockopt"};

/// What libraries try, and do without when there is no such thing: memory that no resource limit counts, and ways of
/// the kernel that no filter can look into.
constexpr std::array kUnknown{"clone3",       "io_setup",     "io_uring_setup", "inotify_init",  "inotify_init1",
                              "memfd_create", "memfd_secret", "mq_open",        "msgget",        "openat2",
                              "semget",       "shmget",       "timer_create",   "timerfd_create"};

/// Questions about a descriptor that the C library asks before it buffers.
constexpr std::array<std::uint64_t, 3> kAllowedControls{TCGETS, TIOCGWINSZ, FIONREAD};

struct Release {
    void operator()(void* filter) const { seccomp_release(filter); }
};

bool set_limit(decltype(RLIMIT_AS) resource, std::uint64_t value)
{
    const rlimit limit{value, value};
    return setrlimit(resource, &limit) == 0;
}

/// Since Linux 5.14 processes are counted for each user namespace, so for this sandbox alone; before, all
/// processes of the user on this machine counted, and no number would be right.
bool counts_own_processes()
{
    struct utsname name{};
    unsigned major = 0;
    unsigned minor = 0;
    if (::uname(&name) != 0 || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return false;
    return major > 5 || (major == 5 && minor >= 14);
}

bool set_resource_limits(const HostLimits& limits)
{
    if (counts_own_processes() && !set_limit(RLIMIT_NPROC, limits.threads + kSpareThreads)) return false;
    const std::uint64_t threads = limits.threads;
    // Twice the memory: the result is mapped once more, to be looked at from outside.
    return set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_FSIZE, kLargestFile) && set_limit(RLIMIT_NOFILE, 256) &&
           set_limit(RLIMIT_DATA, limits.memory_bytes + kOwnData + threads * kDataOfThread) &&
           set_limit(RLIMIT_AS, 2 * limits.memory_bytes + kOwnAddresses + threads * kAddressesOfThread);
}

/// True when the rule stands, or the call does not exist on this processor.
bool add_rule(scmp_filter_ctx filter, std::uint32_t action, const char* call)
{
    const int number = seccomp_syscall_resolve_name(call);
    return number < 0 || seccomp_rule_add(filter, action, number, 0) == 0;
}

bool add_rule(scmp_filter_ctx filter, std::uint32_t action, int call, const scmp_arg_cmp& when)
{
    return seccomp_rule_add_array(filter, action, call, 1, &when) == 0;
}

bool allow_when(scmp_filter_ctx filter, const char* call, const scmp_arg_cmp& when)
{
    return add_rule(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(call), when);
}

/// Threads, and no processes or namespaces.
bool allow_threads(scmp_filter_ctx filter)
{
    constexpr std::uint64_t kNamespaces =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    return allow_when(
        filter, "clone",
        {.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = kNamespaces | CLONE_THREAD, .datum_b = CLONE_THREAD});
}

/// The internet's families and netlink, which the resolver reads addresses with. Sockets of the machine (AF_UNIX) share
/// abstract names with the host's own, so they are refused, not punished: the resolver tries one.
bool allow_network(scmp_filter_ctx filter)
{
    bool good = add_rule(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket),
                         {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = AF_UNIX, .datum_b = 0});
    for (const std::uint64_t family : {AF_INET + 0UL, AF_INET6 + 0UL, AF_NETLINK + 0UL})
        good = good && allow_when(filter, "socket", {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = family, .datum_b = 0});
    for (const char* const call : kAllowedWithNetwork)
        good = good && add_rule(filter, SCMP_ACT_ALLOW, call);
    return good;
}

bool filter_system_calls(const HostLimits& limits)
{
    const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_TRAP));
    if (filter == nullptr) return false;
    // Calls of another instruction set or numbering would go round the rules: such a process is killed.
    bool good = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0;
    for (const char* const call : kAllowed)
        good = good && add_rule(filter.get(), SCMP_ACT_ALLOW, call);
    for (const char* const call : kUnknown)
        good = good && add_rule(filter.get(), SCMP_ACT_ERRNO(ENOSYS), call);
    for (const std::uint64_t control : kAllowedControls)
        good =
            good && allow_when(filter.get(), "ioctl", {.arg = 1, .op = SCMP_CMP_EQ, .datum_a = control, .datum_b = 0});
    good = good && allow_threads(filter.get());
    good = good && (!limits.allows_network || allow_network(filter.get()));
    // The unit's processors are given; libraries that would pin their threads live without it.
    good = good && add_rule(filter.get(), SCMP_ACT_ERRNO(EPERM), "sched_setaffinity");
    return good && seccomp_load(filter.get()) == 0;
}

} // namespace

const char* limit_this_process(const HostLimits& limits)
{
    if (!set_resource_limits(limits)) return "its resource limits cannot be set";
    errno = 0;
    if (!filter_system_calls(limits)) return "its system calls cannot be filtered (seccomp)";
    return nullptr;
}

} // namespace fathom::probes
