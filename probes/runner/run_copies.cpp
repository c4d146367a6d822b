#include "probes/runner/run_copies.hpp"

#include "core/base/json_reader.hpp"
#include "probes/runner/copies_in_step.hpp"
#include "probes/runner/machine_facts.hpp"
#include "probes/runner/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace fathom::probes {
namespace {

/// Of all copies together no more is kept than the metascheduler reads of one result.
constexpr std::size_t kMaxOutputBytes = 4UL << 20U;

Error refused(const char* what, int error)
{
    return Error{Errc::kUnavailable, fmt::format("{}: {}", what, std::strerror(error))};
}

/// Of the calling thread, and of what it starts.
bool run_on(std::span<const int> cpus)
{
    const auto most = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end()));
    std::vector<cpu_set_t> set(most / (8 * sizeof(cpu_set_t)) + 1);
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(bytes, set.data());
    for (const int cpu : cpus)
        CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.data());
    return sched_setaffinity(0, bytes, set.data()) == 0;
}

/// This environment, with what a copy has of its own.
/// @param cores  as many threads as it may have: fewer than its processors where these are hardware threads of cores.
std::vector<std::string> environment_of(std::size_t cores, const std::string& place)
{
    const std::string count = std::to_string(cores);
    const std::array<std::pair<std::string_view, std::string>, 5> own{{{"FATHOM_COPY=", place},
                                                                       {"FATHOM_UNITS=", "1"},
                                                                       {"FATHOM_CORES=", count},
                                                                       {"OPENBLAS_NUM_THREADS=", count},
                                                                       {"OMP_NUM_THREADS=", count}}};
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (std::none_of(own.begin(), own.end(), [&](const auto& one) { return text.starts_with(one.first); }))
            environment.emplace_back(text);
    }
    for (const auto& [name, value] : own)
        environment.push_back(std::string(name) + value);
    return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// A copy that runs, or ran. Killed with this object where it still runs.
class Copy {
  public:
    Copy() = default;
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    ~Copy()
    {
        kill();
        if (pid_ > 0) exit_code();
        if (output_ >= 0) close(output_);
    }

    Result<void> start(std::vector<std::string> arguments, std::vector<std::string> environment)
    {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) return refused("a pipe", errno);
        output_ = ends[0];
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        const int error = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, pointers_to(arguments).data(),
                                      pointers_to(environment).data());
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (error == 0) return {};
        pid_ = -1;
        return refused("a copy cannot be started", error);
    }

    int output() const { return output_; }
    const std::string& text() const { return text_; }
    /// @return whether there may be more.
    bool read_some()
    {
        std::array<char, 65536> buffer; // NOLINT(*-member-init): read() fills it
        const ssize_t count = ::read(output_, buffer.data(), buffer.size());
        if (count < 0) return errno == EINTR;
        text_.append(buffer.data(), static_cast<std::size_t>(count));
        if (text_.size() > kMaxOutputBytes) kill(); // it would wait for ever for somebody to read the rest
        return count > 0 && text_.size() <= kMaxOutputBytes;
    }
    void kill() const
    {
        if (pid_ > 0) ::kill(pid_, SIGKILL);
    }
    /// Waits for its end.
    int exit_code()
    {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t pid_ = -1;
    int output_ = -1;
    std::string text_;
};

/// Until all have ended, or one has failed. @return the exit code of that one; 0: none has.
int wait_for(std::vector<Copy>& copies, CopiesInStep& in_step)
{
    std::vector<pollfd> outputs;
    for (const Copy& copy : copies)
        outputs.push_back({copy.output(), POLLIN, 0});
    for (std::size_t left = copies.size(); left > 0;) {
        if (poll(outputs.data(), outputs.size(), -1) < 0) continue; // a signal
        for (std::size_t i = 0; i < copies.size(); ++i) {
            if (outputs[i].fd < 0 || outputs[i].revents == 0 || copies[i].read_some()) continue;
            outputs[i].fd = -1; // ignored from here on
            --left;
            in_step.note_end(static_cast<int>(i));
            if (const int exit_code = copies[i].exit_code(); exit_code != 0) return exit_code;
        }
    }
    return 0;
}

Result<void> start_all(std::vector<Copy>& copies, const std::vector<std::vector<int>>& cpus,
                       const std::vector<std::string>& arguments, const CopiesInStep& in_step)
{
    const Result<int> cores = usable_cores();
    if (!cores) return cores.error();
    const std::size_t each = std::max<std::size_t>(static_cast<std::size_t>(*cores) / copies.size(), 1);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (!run_on(cpus[i])) return refused("a part of the processors", errno);
        std::vector<std::string> own{"fathom-probe"};
        own.insert(own.end(), arguments.begin(), arguments.end());
        const Result<void> started =
            copies[i].start(std::move(own), environment_of(each, in_step.place_of(static_cast<int>(i))));
        if (!started) return started;
    }
    return {};
}

Result<std::vector<ProbeResult>> read_results(const std::vector<Copy>& copies)
{
    std::vector<ProbeResult> results;
    for (const Copy& copy : copies) {
        const Result<Json> json = parse_json(copy.text(), {.max_bytes = kMaxOutputBytes});
        Result<ProbeResult> result = json ? parse_probe_result(*json) : json.error();
        if (!result) return Error{Errc::kInternal, "a copy's result cannot be read: " + describe(result.error())};
        results.push_back(std::move(*result));
    }
    return results;
}

} // namespace

Result<std::vector<std::vector<int>>> divide_cpus(std::span<const int> cpus, int copies)
{
    const std::size_t each = cpus.size() / static_cast<std::size_t>(copies);
    if (each == 0)
        return Error{Errc::kInvalid,
                     fmt::format("{} copies need a processor each; {} may be used here", copies, cpus.size())};
    std::vector<std::vector<int>> parts;
    for (std::size_t first = 0; parts.size() < static_cast<std::size_t>(copies); first += each) {
        const std::span<const int> part = cpus.subspan(first, each);
        parts.emplace_back(part.begin(), part.end());
    }
    return parts;
}

ProbeResult join_results(std::vector<ProbeResult> results, double wall_s)
{
    ProbeResult joined = std::move(results.front());
    joined.wall_s = std::max(joined.wall_s, wall_s);
    for (std::size_t i = 1; i < results.size(); ++i) {
        results[i].host = Json::object();
        joined.copies.push_back(std::move(results[i]));
    }
    return joined;
}

Result<EndedCopies> run_copies(int copies, const std::vector<std::string>& arguments)
{
    const std::vector<int> all = allowed_cpus();
    const Result<std::vector<std::vector<int>>> cpus = divide_cpus(sorted_by_core("/sys", all), copies);
    if (!cpus) return cpus.error();
    Result<CopiesInStep> in_step = CopiesInStep::make(copies);
    if (!in_step) return in_step.error();
    std::vector<Copy> started(static_cast<std::size_t>(copies));
    const Result<void> all_started = start_all(started, *cpus, arguments, *in_step);
    run_on(all); // this process only waits, but what it does shall be nobody's in particular
    if (!all_started) return all_started.error();
    EndedCopies ended{.exit_code = wait_for(started, *in_step), .results = {}};
    if (ended.exit_code != 0) return ended;
    Result<std::vector<ProbeResult>> results = read_results(started);
    if (!results) return results.error();
    ended.results = std::move(*results);
    return ended;
}

void end_with_starter()
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); // where it has ended already, the task's limit ends the copy
}

} // namespace fathom::probes
