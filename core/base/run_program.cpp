#include "core/base/run_program.hpp"

#include "core/base/argument_pointers.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "core/base/wait_for_child.hpp"
#include "core/base/write_all.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <stop_token>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxOutput = 4UL << 20U;

std::vector<std::string> joined_environment(std::map<std::string, std::string> variables)
{
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos) variables.try_emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    std::vector<std::string> lines;
    for (const auto& [name, value] : variables)
        lines.push_back(name + "=" + value);
    return lines;
}

struct RunLimits {
    std::chrono::milliseconds time;
    std::size_t most_bytes = kMaxOutput; ///< of output
    std::stop_token stop{};              ///< ends it, too
};

/// Waits until there is something to read, or an end. @error  what ends the program instead.
Result<void> wait_for_output(int fd, std::chrono::steady_clock::time_point deadline, const std::stop_token& stop)
{
    constexpr std::chrono::milliseconds kStopLook{50};
    for (;;) {
        if (stop.stop_requested()) return Error{Errc::kUnavailable, "was stopped"};
        const auto now = std::chrono::steady_clock::now();
        if (now >= deadline) return Error{Errc::kDeadline, "took too long"};
        if (wait_for_input(fd, stop.stop_possible() ? std::min(deadline, now + kStopLook) : deadline)) return {};
    }
}

/// Waits until a program has ended that has nothing more to write. @error  what ends it instead.
Result<void> wait_for_end(pid_t pid, std::chrono::steady_clock::time_point deadline, const std::stop_token& stop)
{
    const OpenFile end = open_child_end(pid);
    if (end.number() < 0 || has_child_ended(pid)) return {}; // without a descriptor whoever reaps it waits
    return wait_for_output(end.number(), deadline, stop);
}

/// Reads until end of file; the limits end it early.
Result<std::string> read_output(int fd, std::chrono::steady_clock::time_point deadline, const RunLimits& limits)
{
    const std::size_t most_bytes = limits.most_bytes;
    std::string output;
    std::array<char, 65536> block{};
    for (;;) {
        if (const Result<void> waited = wait_for_output(fd, deadline, limits.stop); !waited) return waited.error();
        const ssize_t size = ::read(fd, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return output;
        output.append(block.data(), static_cast<std::size_t>(size));
        if (output.size() > most_bytes)
            return Error{Errc::kTooLarge, "wrote more than " + std::to_string(most_bytes >> 20U) + " MiB"};
    }
}

/// Where a program's standard error goes.
enum class ErrorOutput { kOurs, kInOutput, kDropped };

/// Of a program.
struct ProgramStreams {
    int input; ///< -1: nothing
    int output;
    ErrorOutput errors;
};

int spawn(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
          const ProgramStreams& streams, pid_t& pid)
{
    std::vector<std::string> arguments = command;
    std::vector<std::string> variables = joined_environment(environment);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (streams.input >= 0)
        ::posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO);
    else
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO);
    if (streams.errors == ErrorOutput::kInOutput)
        ::posix_spawn_file_actions_adddup2(&actions, streams.output, STDERR_FILENO);
    if (streams.errors == ErrorOutput::kDropped)
        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int error = ::posix_spawn(&pid, arguments.front().c_str(), &actions, &attributes,
                                    argument_pointers(arguments).data(), argument_pointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return error;
}

struct Run {
    std::string output;
    int wait_status{};
};

/// @param input  -1: none
Result<Run> run_and_wait(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                         const RunLimits& limits, int input, ErrorOutput errors)
{
    const auto deadline = std::chrono::steady_clock::now() + limits.time;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{Errc::kInternal, "cannot make a pipe"};
    pid_t pid = 0;
    const int spawn_error = spawn(command, environment, {input, ends[1], errors}, pid);
    ::close(ends[1]);
    if (spawn_error != 0) {
        ::close(ends[0]);
        return Error{Errc::kNotFound, "cannot run " + command.front() + ": " +
                                          std::error_code(spawn_error, std::generic_category()).message()};
    }
    Result<std::string> output = read_output(ends[0], deadline, limits);
    ::close(ends[0]);
    if (output) {
        if (const Result<void> ended = wait_for_end(pid, deadline, limits.stop); !ended) output = ended.error();
    }
    if (!output) ::kill(-pid, SIGKILL);
    Run run;
    reap_child(pid, run.wait_status);
    if (!output) return Error{output.error().code, command.front() + " " + output.error().detail};
    run.output = std::move(*output);
    return run;
}

/// Of one that ended with 0.
Result<std::string> output_of(const std::vector<std::string>& command, Result<Run> run)
{
    if (!run) return run.error();
    if (!WIFEXITED(run->wait_status) || WEXITSTATUS(run->wait_status) != 0)
        return Error{Errc::kUnavailable,
                     command.front() + " ended with wait status " + std::to_string(run->wait_status)};
    return std::move(run->output);
}

} // namespace

Result<std::string> run_program(const std::vector<std::string>& command,
                                const std::map<std::string, std::string>& environment, std::chrono::milliseconds limit)
{
    return output_of(command, run_and_wait(command, environment, {limit}, -1, ErrorOutput::kOurs));
}

Result<std::string> run_program_until(const std::stop_token& stop, const std::vector<std::string>& command,
                                      const std::map<std::string, std::string>& environment,
                                      std::chrono::milliseconds limit)
{
    const RunLimits limits{.time = limit, .stop = stop};
    return output_of(command, run_and_wait(command, environment, limits, -1, ErrorOutput::kOurs));
}

Result<std::string> run_program_on(const std::string& input, const std::vector<std::string>& command,
                                   const std::map<std::string, std::string>& environment,
                                   std::chrono::milliseconds limit)
{
    // Unlike a pipe it takes all before the program runs.
    const OpenFile file(::memfd_create("input", MFD_CLOEXEC));
    if (file.number() < 0 || !write_all(file.number(), input) || ::lseek(file.number(), 0, SEEK_SET) != 0)
        return Error{Errc::kUnavailable, "cannot keep the input of " + command.front()};
    return output_of(command, run_and_wait(command, environment, {limit}, file.number(), ErrorOutput::kDropped));
}

Result<ProgramAnswer> run_program_to_end(const std::vector<std::string>& command,
                                         const std::map<std::string, std::string>& environment,
                                         std::chrono::milliseconds limit, std::size_t most_bytes)
{
    Result<Run> run = run_and_wait(command, environment, {limit, most_bytes}, -1, ErrorOutput::kInOutput);
    if (!run) return run.error();
    const int status = run->wait_status;
    return ProgramAnswer{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::move(run->output)};
}

} // namespace fathom
