#include "probes/upload/process_start.hpp"

#include "core/base/argument_pointers.hpp"
#include "probes/upload/wire.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

constexpr const char* kHostProgram = "fathom-operator-host";
constexpr unsigned kNobody = 65534;
/// Above every descriptor that the sandbox is to find at a number of its own.
constexpr int kOutOfTheWay = 16;

Error failed(const std::string& step)
{
    return Error{Errc::kUnavailable, step + ": " + std::error_code(errno, std::generic_category()).message()};
}

OpenFile open_host_program()
{
    std::error_code ignored;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    return OpenFile(::open((folder / kHostProgram).c_str(), O_RDONLY | O_CLOEXEC));
}

/// A file in memory that holds `content`, to be read from its start.
OpenFile memory_file(const char* name, std::string_view content, unsigned flags)
{
    OpenFile file(::memfd_create(name, MFD_CLOEXEC | flags));
    if (file.number() < 0) return file;
    if (::pwrite(file.number(), content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
        return OpenFile();
    return file;
}

/// What the child needs, made before the fork: between fork and exec nothing may be allocated.
struct ChildPlan {
    std::vector<char*> arguments;
    /// Where each descriptor shall stand in the sandbox: number there, number here.
    std::array<std::pair<int, int>, 7> places{};
};

[[noreturn]] void give_up(const char* step)
{
    const char* const reason = ::strerrordesc_np(errno);
    for (const char* const part : {step, ": ", reason != nullptr ? reason : "unknown error"})
        static_cast<void>(!::write(STDERR_FILENO, part, std::strlen(part)));
    ::_exit(127);
}

void place_descriptors(ChildPlan& plan)
{
    for (auto& [there, here] : plan.places) {
        here = ::fcntl(here, F_DUPFD_CLOEXEC, kOutOfTheWay);
        if (here < 0) ::_exit(127);
    }
    int last = 0;
    for (const auto& [there, here] : plan.places) {
        if (::dup2(here, there) < 0) ::_exit(127);
        last = std::max(last, there);
    }
    ::close_range(static_cast<unsigned>(last) + 1, ~0U, 0);
}

/// By bare system calls: the library's functions would wait for locks of threads that this process does not have.
/// In a container whose root is an ordinary user outside there may be no nobody to become; the sandbox's own user
/// namespace has to do then.
void become_nobody()
{
    if (::geteuid() != 0) return;
    const bool done = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                      ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) == 0 &&
                      ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0;
    if (!done && errno != EPERM && errno != EINVAL) give_up("cannot become the user nobody");
}

[[noreturn]] void become_sandbox(ChildPlan& plan, pid_t parent)
{
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    place_descriptors(plan);
    become_nobody();
    // After the change of user, which clears it. The parent may have died before.
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up("cannot renounce privileges");
    if (::getppid() != parent) ::_exit(127);
    static_cast<void>(::chdir("/"));
    ::execv(plan.arguments[0], plan.arguments.data());
    give_up("cannot start bubblewrap");
}

} // namespace

Result<StartedProcess> start_in_sandbox(std::string_view object, const SandboxNeeds& needs)
{
    Result<std::vector<std::string>> command = sandbox_command(needs);
    if (!command) return command.error();
    const OpenFile program = open_host_program();
    if (program.number() < 0) return failed(std::string("cannot open ") + kHostProgram + " beside this program");
    const OpenFile null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const OpenFile code = memory_file("operator", object, 0);
    StartedProcess process;
    process.result_memory = memory_file("result", "", MFD_ALLOW_SEALING);
    process.stderr_memory = memory_file("stderr", "", 0);
    std::array<int, 2> ends{-1, -1};
    if (null.number() < 0 || code.number() < 0 || process.result_memory.number() < 0 ||
        process.stderr_memory.number() < 0 || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failed("cannot open what a sandbox needs");
    process.socket = OpenFile(ends[0]);
    const OpenFile far_end(ends[1]);

    ChildPlan plan;
    plan.arguments = argument_pointers(*command);
    plan.places = {{{STDIN_FILENO, null.number()},
                    {STDOUT_FILENO, null.number()},
                    {STDERR_FILENO, process.stderr_memory.number()},
                    {wire::kSocketFd, far_end.number()},
                    {wire::kResultFd, process.result_memory.number()},
                    {kHostProgramFd, program.number()},
                    {kObjectFd, code.number()}}};
    const pid_t self = ::getpid();
    process.pid = ::fork();
    if (process.pid < 0) return failed("cannot make a process");
    if (process.pid == 0) become_sandbox(plan, self);
    return process;
}

} // namespace fathom::probes
