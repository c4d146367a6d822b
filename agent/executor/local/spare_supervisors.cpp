#include "agent/executor/local/spare_supervisors.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/error_text.hpp"
#include "core/base/process_limits.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// One is told its attempt while the other one gets ready.
constexpr std::size_t kSpares = 2;

/// Starts `program supervise ...` with `input` as its standard input, in a session of its own, with no signals blocked
/// or ignored and no other descriptors but /dev/null.
Result<pid_t> spawn(const std::filesystem::path& program, const Isolation& isolation, int input)
{
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::string name = "fathom-agent";
    std::string verb = "supervise";
    std::string descriptors = std::to_string(descriptor_limit_at_start()); // of the jobs' programs
    std::string separation = encode(isolation);
    std::array<char*, 5> arguments{name.data(), verb.data(), descriptors.data(), separation.data(), nullptr};
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return Error{Errc::kUnavailable, "cannot start a supervisor: " + error_text(error)};
    return pid;
}

} // namespace

SpareSupervisors::SpareSupervisors(std::filesystem::path program, Isolation isolation)
    : program_(std::move(program)), isolation_(std::move(isolation))
{
}

SpareSupervisors::~SpareSupervisors()
{
    for (const int input : spares_)
        ::close(input);
    reap();
}

void SpareSupervisors::refill()
{
    reap();
    while (spares_.size() < kSpares) {
        const Result<int> started = start_one();
        if (!started) return; // supervise() says so, when it matters
        spares_.push_back(*started);
    }
}

Result<void> SpareSupervisors::supervise(const std::filesystem::path& folder)
{
    const std::string line = folder.string() + "\n";
    for (;;) {
        const bool is_spare = !spares_.empty();
        const Result<int> input = is_spare ? Result<int>(spares_.front()) : start_one();
        if (!input) return input.error();
        if (is_spare) spares_.pop_front();
        const ssize_t sent = ::send(*input, line.data(), line.size(), MSG_NOSIGNAL);
        const int error = errno;
        ::close(*input);
        if (sent == static_cast<ssize_t>(line.size())) return {};
        // A spare that somebody has killed; the next one may live.
        if (!is_spare) return Error{Errc::kUnavailable, "cannot talk to a supervisor: " + error_text(error)};
    }
}

Result<int> SpareSupervisors::start_one()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return Error{Errc::kUnavailable, "cannot make a socket for a supervisor: " + error_text(errno)};
    const Result<pid_t> pid = spawn(program_, isolation_, ends[1]);
    ::close(ends[1]);
    if (!pid) {
        ::close(ends[0]);
        return pid.error();
    }
    leaving_.push_back(*pid);
    return ends[0];
}

void SpareSupervisors::reap()
{
    std::erase_if(leaving_, [](int pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

} // namespace fathom::agent
