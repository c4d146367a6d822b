#include "probes/profile/child_process.hpp"

#include "core/base/argument_pointers.hpp"
#include "probes/profile/group_witness.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::profile {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

/// Between fork and exec.
[[noreturn]] void become(const std::string& path, const std::vector<char*>& arguments,
                         const std::vector<char*>& environment, const sigset_t& mask, const int (&gate)[2], int report)
{
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::close(gate[1]);
    char go = 0;
    // The parent attaches its counters first, then closes its end.
    while (::read(gate[0], &go, 1) < 0 && errno == EINTR) {
    }
    ::execve(path.c_str(), arguments.data(), environment.data());
    if (errno == ENOEXEC) { // a script without `#!`, as every shell runs it
        std::vector<char*> shell{const_cast<char*>("/bin/sh"), const_cast<char*>(path.c_str())};
        shell.insert(shell.end(), arguments.begin() + 1, arguments.end());
        ::execve(shell[0], shell.data(), environment.data());
    }
    const int error = errno;
    if (::write(report, &error, sizeof(error)) < 0) ::_exit(126);
    ::_exit(127);
}

/// @return 0 when the program was started, else errno of execve().
int wait_for_start(int report)
{
    int error = 0;
    ssize_t bytes = 0;
    do {
        bytes = ::read(report, &error, sizeof(error));
    } while (bytes < 0 && errno == EINTR);
    return bytes == sizeof(error) ? error : 0;
}

double cpu_s_of(const rusage& usage)
{
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ProgramEnd end_of(int status, const rusage& usage)
{
    ProgramEnd end;
    end.cpu_s = cpu_s_of(usage);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    return end;
}

ProgramEnd watch(pid_t child, const sigset_t& signals, GroupWitness& group, const WhileRunning& meanwhile)
{
    std::chrono::milliseconds wait = meanwhile.tick();
    while (true) {
        int status = 0;
        rusage usage = {};
        const pid_t ended = ::wait4(child, &status, WNOHANG, &usage);
        if (ended == child || (ended < 0 && errno != EINTR)) return end_of(status, usage);
        const timespec limit = {wait.count() / 1000, wait.count() % 1000 * 1'000'000};
        siginfo_t info = {};
        const int signal = ::sigtimedwait(&signals, &info, &limit);
        if (signal < 0) {
            wait = meanwhile.tick();
            continue;
        }
        if (signal == SIGCHLD) continue;
        // What the terminal or anybody sends to the whole group has reached the program already.
        const bool has_it = group.saw(signal) || info.si_code == SI_KERNEL;
        if (!has_it) ::kill(child, signal);
        if (signal == SIGTERM) meanwhile.asked_to_end();
    }
}

} // namespace

Result<ProgramEnd> run_program(const std::string& path, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment, const WhileRunning& meanwhile)
{
    int gate[2] = {-1, -1};
    int report[2] = {-1, -1};
    if (::pipe2(gate, O_CLOEXEC) != 0 || ::pipe2(report, O_CLOEXEC) != 0)
        return Error{Errc::kUnavailable, "cannot make a pipe"};
    sigset_t signals;
    sigset_t before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (const int signal : kPassedOn)
        sigaddset(&signals, signal);
    // Blocked, not caught: what is blocked can be given back to the program exactly as it was.
    ::sigprocmask(SIG_BLOCK, &signals, &before);
    GroupWitness group(signals);
    std::vector<std::string> argument_texts = arguments;
    std::vector<std::string> variable_texts = environment;
    const std::vector<char*> own_arguments = argument_pointers(argument_texts);
    const std::vector<char*> own_variables = argument_pointers(variable_texts);
    const pid_t child = ::fork();
    if (child < 0) return Error{Errc::kUnavailable, "cannot start a process"};
    if (child == 0) become(path, own_arguments, own_variables, before, gate, report[1]);
    ::signal(SIGCHLD, SIG_DFL); // who started us may have it ignored; then no child's end could be told
    ::close(gate[0]);
    ::close(report[1]);
    meanwhile.started(child);
    ::close(gate[1]);
    const int error = wait_for_start(report[0]);
    ::close(report[0]);
    if (error != 0) {
        ::waitpid(child, nullptr, 0);
        const Errc code = error == ENOENT ? Errc::kNotFound : Errc::kForbidden;
        return Error{code, path + ": cannot be started: " + std::strerror(error)}; // NOLINT(concurrency-mt-unsafe)
    }
    return watch(child, signals, group, meanwhile);
}

} // namespace fathom::profile
