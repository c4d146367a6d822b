#include "probes/profile/remainder_operators.hpp"

#include "core/model/probe_result.hpp"
#include "probes/profile/counts_folder.hpp"
#include "probes/profile/stand_ins.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::profile {
namespace {

std::string task_of(const std::vector<StandIn>& parts)
{
    ProbeTask task;
    task.name = "remainder";
    task.repeats = 3;
    task.min_sample_s = 0.01;
    for (const StandIn& part : parts)
        task.operators.push_back({.id = part.id, .version = 0, .parameters = part.parameters, .count = 1});
    return to_json(task).dump();
}

/// Runs a program with a text on its standard input and gives its standard output.
Result<std::string> run_with_input(const std::string& program, const std::string& input)
{
    int in[2] = {-1, -1};
    int out[2] = {-1, -1};
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
        return Error{Errc::kUnavailable, "cannot make a pipe"};
    const pid_t child = ::fork();
    if (child < 0) return Error{Errc::kUnavailable, "cannot start a process"};
    if (child == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        const int silence = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(silence, STDERR_FILENO);
        ::setenv("FATHOM_CORES", "1", 1); // counts are of one thread
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::execl(program.c_str(), program.c_str(), "--task", "-", nullptr);
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    // Shorter than a pipe holds.
    const bool is_written = ::write(in[1], input.data(), input.size()) == static_cast<ssize_t>(input.size());
    ::close(in[1]);
    std::string output;
    std::array<char, 4096> buffer{};
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
    while (output.size() < kMaxBytes && std::chrono::steady_clock::now() < limit) {
        pollfd ready = {out[0], POLLIN, 0};
        if (::poll(&ready, 1, 1000) <= 0) continue;
        const ssize_t bytes = ::read(out[0], buffer.data(), buffer.size());
        if (bytes <= 0) break;
        output.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
    ::close(out[0]);
    if (std::chrono::steady_clock::now() >= limit) ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!is_written || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return Error{Errc::kUnavailable, program + " failed on the operators that stand for the remainder"};
    return output;
}

} // namespace

Result<void> add_remainder_operators(Profile& profile, const std::vector<OperatorManifest>& library)
{
    std::vector<StandIn> parts = stand_ins(profile.remainder, profile.own_code);
    std::erase_if(parts, [&](const StandIn& part) {
        return std::none_of(library.begin(), library.end(),
                            [&](const OperatorManifest& manifest) { return manifest.id == part.id; });
    });
    if (parts.empty()) return {};
    const std::string program = own_folder() + "/fathom-probe";
    if (::access(program.c_str(), X_OK) != 0) return Error{Errc::kUnavailable, program + " is missing"};
    const Result<std::string> output = run_with_input(program, task_of(parts));
    if (!output) return output.error();
    const Result<Json> json = parse_json(*output);
    if (!json) return json.error();
    const Result<ProbeResult> result = parse_probe_result(*json);
    if (!result) return result.error();
    for (std::size_t i = 0; i < parts.size() && i < result->operators.size(); ++i) {
        const double each_s = result->operators[i].median_s;
        if (each_s <= 0) continue;
        OperatorUse use;
        use.id = parts[i].id;
        use.parameters = result->operators[i].parameters;
        use.count = std::max<std::int64_t>(1, std::llround(parts[i].share * profile.thread_s / each_s));
        use.share = parts[i].share;
        use.remainder = parts[i].remainder;
        profile.stand_in_similarity[operator_key(use.id, use.parameters) + use.remainder] = parts[i].similarity;
        profile.operators.push_back(std::move(use));
    }
    return {};
}

} // namespace fathom::profile
