#include "agent/executor/local/fork_server.hpp"

#include "agent/executor/local/attempt_folder.hpp"
#include "core/base/error_text.hpp"
#include "core/base/packet_socket.hpp"
#include "core/base/process_limits.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// A fork server that takes no request for so long is given up.
constexpr timeval kMaxRequestTime{.tv_sec = 10, .tv_usec = 0};

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

/// Twice, so that the supervisor is a child of init: neither our death nor a terminal's touches it.
/// @return true in the supervisor.
bool fork_detached(int input)
{
    const pid_t pid = ::fork();
    if (pid != 0) {
        int status = 0;
        if (pid > 0) static_cast<void>(reap_child(pid, status));
        return false;
    }
    ::setsid();
    const pid_t supervisor = ::fork();
    if (supervisor != 0) ::_exit(supervisor < 0 ? 1 : 0);
    ::dup2(input, STDIN_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    return true;
}

} // namespace

ForkServer::ForkServer(std::filesystem::path program, Isolation isolation)
    : program_(std::move(program)), isolation_(std::move(isolation))
{
}

ForkServer::~ForkServer()
{
    stop();
    reap();
}

Result<void> ForkServer::fork_supervisor(int input)
{
    const bool is_new = requests_.number() < 0;
    if (is_new) {
        if (Result<void> started = start(); !started) return started;
    }
    const Result<void> asked = send_packet(requests_.number(), "fork", {input});
    if (asked) return asked;
    stop();
    return is_new ? asked : fork_supervisor(input); // somebody has killed the one before
}

Result<void> ForkServer::start()
{
    Result<PacketSockets> sockets = make_packet_sockets();
    if (!sockets) return sockets.error();
    ::setsockopt(sockets->first.number(), SOL_SOCKET, SO_SNDTIMEO, &kMaxRequestTime, sizeof kMaxRequestTime);
    const Result<pid_t> pid = spawn(program_, isolation_, sockets->second.number());
    if (!pid) return pid.error();
    pid_ = *pid;
    requests_ = std::move(sockets->first);
    return {};
}

void ForkServer::stop()
{
    if (pid_ > 0) ended_.push_back(pid_);
    pid_ = -1;
    requests_ = OpenFile();
}

void ForkServer::reap()
{
    std::erase_if(ended_, [](int pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

bool serve_forks()
{
    ::prctl(PR_SET_NAME, "fathom-forks", 0, 0, 0);
    ::close_range(STDERR_FILENO + 1, ~0U, 0); // what the agent was started with may be waited for to be closed
    while (const std::optional<Packet> request = receive_packet(STDIN_FILENO)) {
        if (request->files.size() == 1 && fork_detached(request->files.front().number())) return true;
    }
    return false;
}

} // namespace fathom::agent
