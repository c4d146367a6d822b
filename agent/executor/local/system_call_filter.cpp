#include "agent/executor/local/system_call_filter.hpp"

#include "core/base/error_text.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The library knows the numbers. The program is made here: the library takes some milliseconds for it, as many as the
// start of a job.
//
// What stays allowed on purpose. Namespaces of users and what is mounted in them: the sandbox of uploaded operators and
// containers are made of them. perf_event_open: the profiler counts with it. ptrace: debuggers. ioctl: devices.

namespace fathom::agent {
namespace {

/// As for a process without the right. Of an agent that is not root, jobs have its keyring, with what a sign-in put
/// there; the others are the machine's, or have a long list of faults that were found in them.
constexpr std::array kForbidden{// keys of the user and the session
                                "add_key", "keyctl", "request_key",
                                // the kernel's own programs and parts
                                "bpf", "create_module", "delete_module", "finit_module", "get_kernel_syms",
                                "init_module", "kexec_file_load", "kexec_load", "query_module", "uselib",
                                // files past their folders' rights; everybody's file accesses
                                "fanotify_init", "lookup_dcookie", "open_by_handle_at",
                                // the machine: its clock, disks, ports, terminals, log
                                "acct", "adjtimex", "clock_adjtime", "clock_adjtime64", "clock_settime",
                                "clock_settime64", "ioperm", "iopl", "nfsservctl", "quotactl", "quotactl_fd", "reboot",
                                "settimeofday", "stime", "swapoff", "swapon", "syslog", "vhangup", "vm86", "vm86old",
                                // stops the kernel at a chosen place, for as long as is wanted
                                "userfaultfd"};

/// What programs try, and do another way where the kernel does not have it. With io_uring a process has the kernel do
/// what no filter looks at; mounting by steps does what mount() does, which has had fewer faults.
constexpr std::array kUnknown{"fsconfig",       "fsmount",           "fsopen",         "fspick",
                              "io_uring_enter", "io_uring_register", "io_uring_setup", "mount_setattr",
                              "move_mount",     "open_tree",         "open_tree_attr"};

/// Of the numbering that an instruction set has beside its own, and that programs for it would go round this by.
constexpr std::uint32_t kThirdNumbering = 0x40000000;

constexpr std::uint32_t refusal(int error)
{
    return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}

sock_filter statement(unsigned code, std::size_t value)
{
    return {static_cast<std::uint16_t>(code), 0, 0, static_cast<std::uint32_t>(value)};
}

sock_filter jump(unsigned condition, std::uint32_t value, std::size_t when_true, std::size_t when_false)
{
    return {static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), static_cast<std::uint8_t>(when_true),
            static_cast<std::uint8_t>(when_false), value};
}

/// Their numbers; those that the instruction set, or the library, does not know cannot be called.
template <std::size_t kCount>
std::vector<std::uint32_t> numbers_of(const std::array<const char*, kCount>& calls, std::uint32_t instruction_set)
{
    std::vector<std::uint32_t> numbers;
    for (const char* const call : calls) {
        const int number = seccomp_syscall_resolve_name_arch(instruction_set, call);
        if (number >= 0) numbers.push_back(static_cast<std::uint32_t>(number));
    }
    return numbers;
}

/// Decides on a call of that instruction set. One comparison for each refused call: kernels since 5.11 keep which calls
/// are always allowed, and do not come here for them.
std::vector<sock_filter> section_for(std::uint32_t instruction_set)
{
    const std::vector<std::uint32_t> forbidden = numbers_of(kForbidden, instruction_set);
    const std::vector<std::uint32_t> unknown = numbers_of(kUnknown, instruction_set);
    // Where the answers are from the start of the section: below 255, as far as a jump reaches.
    const std::size_t allow = 2 + forbidden.size() + unknown.size();
    std::vector<sock_filter> section{statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    const auto refuse_when = [&](unsigned condition, std::uint32_t number, std::size_t answer) {
        section.push_back(jump(condition, number, answer - section.size() - 1, 0));
    };
    refuse_when(BPF_JGE, kThirdNumbering, allow + 2);
    for (const std::uint32_t number : forbidden)
        refuse_when(BPF_JEQ, number, allow + 1);
    for (const std::uint32_t number : unknown)
        refuse_when(BPF_JEQ, number, allow + 2);
    section.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    section.push_back(statement(BPF_RET | BPF_K, refusal(EPERM)));
    section.push_back(statement(BPF_RET | BPF_K, refusal(ENOSYS)));
    return section;
}

/// The processor's own, and the one of its 32-bit programs.
std::vector<std::uint32_t> instruction_sets()
{
    const std::uint32_t native = seccomp_arch_native();
    if (native == SCMP_ARCH_X86_64) return {native, SCMP_ARCH_X86};
    if (native == SCMP_ARCH_AARCH64) return {native, SCMP_ARCH_ARM};
    return {native};
}

} // namespace

SystemCallFilter::SystemCallFilter()
{
    program_.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
    for (const std::uint32_t instruction_set : instruction_sets()) {
        const std::vector<sock_filter> section = section_for(instruction_set);
        program_.push_back(jump(BPF_JEQ, instruction_set, 0, section.size()));
        program_.insert(program_.end(), section.begin(), section.end());
    }
    program_.push_back(statement(BPF_RET | BPF_K, refusal(ENOSYS)));
}

int SystemCallFilter::load() const
{
    // The kernel does not write to it, but takes no const.
    const sock_fprog program{
        static_cast<unsigned short>(program_.size()),
        const_cast<sock_filter*>(program_.data())}; // NOLINT(cppcoreguidelines-pro-type-const-cast)
    // Without this flag kernels before 5.16 make all that the job computes slower, against programs that find out by
    // speculation what else is in their own memory. Kernels before 4.17 do not know it.
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) return 0;
    if (errno == EINVAL && ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return 0;
    return errno;
}

std::string why_no_system_call_filter()
{
    const SystemCallFilter filter;
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(errno);
        ::_exit(filter.load());
    }
    int status = 0;
    if (pid > 0) reap_child(pid, status);
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (pid > 0 && WIFEXITED(status)) return error_text(WEXITSTATUS(status));
    return "a process to try it with failed";
}

} // namespace fathom::agent
