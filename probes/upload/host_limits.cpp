#include "probes/upload/host_limits.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sched.h>
#include <seccomp.h>
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

/// System calls that no computation needs: those that reach other processes, the kernel, or out of the sandbox.
constexpr std::array kForbidden{"acct",
                                "add_key",
                                "adjtimex",
                                "bpf",
                                "chroot",
                                "clock_adjtime",
                                "clock_settime",
                                "clock_settime64",
                                "create_module",
                                "delete_module",
                                "execve",
                                "execveat",
                                "fanotify_init",
                                "finit_module",
                                "fork",
                                "fsconfig",
                                "fsmount",
                                "fsopen",
                                "fspick",
                                "get_kernel_syms",
                                "init_module",
                                "io_uring_enter",
                                "io_uring_register",
                                "io_uring_setup",
                                "ioperm",
                                "iopl",
                                "kcmp",
                                "kexec_file_load",
                                "kexec_load",
                                "keyctl",
                                "lookup_dcookie",
                                "mknod",
                                "mknodat",
                                "modify_ldt",
                                "mount",
                                "mount_setattr",
                                "move_mount",
                                "name_to_handle_at",
                                "nfsservctl",
                                "open_by_handle_at",
                                "open_tree",
                                "perf_event_open",
                                "personality",
                                "pidfd_getfd",
                                "pidfd_open",
                                "pivot_root",
                                "process_madvise",
                                "process_vm_readv",
                                "process_vm_writev",
                                "ptrace",
                                "query_module",
                                "quotactl",
                                "quotactl_fd",
                                "reboot",
                                "request_key",
                                "setdomainname",
                                "sethostname",
                                "setns",
                                "settimeofday",
                                "stime",
                                "swapoff",
                                "swapon",
                                "sysfs",
                                "syslog",
                                "umount",
                                "umount2",
                                "unshare",
                                "uselib",
                                "userfaultfd",
                                "ustat",
                                "vfork",
                                "vhangup"};

/// Memory that no resource limit counts. Libraries that would like it have another way.
constexpr std::array kUncounted{"memfd_create", "memfd_secret", "msgget", "shmget"};

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

scmp_arg_cmp first_argument(scmp_compare compare, std::uint64_t value, std::uint64_t of_masked = 0)
{
    return {.arg = 0, .op = compare, .datum_a = value, .datum_b = of_masked};
}

bool forbid_processes(scmp_filter_ctx filter)
{
    bool good = add_rule(filter, SCMP_ACT_TRAP, SCMP_SYS(clone), first_argument(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    for (const int name_space :
         {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
        const auto flags = static_cast<std::uint64_t>(name_space | CLONE_THREAD);
        good =
            good && add_rule(filter, SCMP_ACT_TRAP, SCMP_SYS(clone), first_argument(SCMP_CMP_MASKED_EQ, flags, flags));
    }
    // Its flags lie in memory, where no filter can look. The C library then falls back to clone.
    return good && add_rule(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

/// With a network: the internet's families and netlink, which the resolver reads addresses with. Sockets of
/// the machine (AF_UNIX) share abstract names with the host's own, so they are refused, not punished: the
/// resolver tries one.
bool restrict_sockets(scmp_filter_ctx filter)
{
    bool good = add_rule(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), first_argument(SCMP_CMP_EQ, AF_UNIX)) &&
                add_rule(filter, SCMP_ACT_TRAP, SCMP_SYS(socket), first_argument(SCMP_CMP_GT, AF_NETLINK));
    for (std::uint64_t family = AF_UNIX + 1; family < AF_NETLINK; ++family) {
        if (family == AF_INET || family == AF_INET6) continue;
        good = good && add_rule(filter, SCMP_ACT_TRAP, SCMP_SYS(socket), first_argument(SCMP_CMP_EQ, family));
    }
    return good;
}

bool filter_system_calls(const HostLimits& limits)
{
    const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ALLOW));
    if (filter == nullptr) return false;
    // Calls of another instruction set or numbering would go round the rules: such a process is killed.
    bool good = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0;
    for (const char* const call : kForbidden)
        good = good && add_rule(filter.get(), SCMP_ACT_TRAP, call);
    good = good && forbid_processes(filter.get());
    good = good &&
           (limits.allows_network ? restrict_sockets(filter.get()) : add_rule(filter.get(), SCMP_ACT_TRAP, "socket"));
    for (const char* const call : kUncounted)
        good = good && add_rule(filter.get(), SCMP_ACT_ERRNO(ENOSYS), call);
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
