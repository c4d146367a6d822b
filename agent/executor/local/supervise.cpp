#include "agent/executor/local/supervise.hpp"

#include "agent/config/cpu_list.hpp"
#include "agent/executor/local/cached_inputs.hpp"
#include "agent/executor/local/file_lock.hpp"
#include "agent/executor/local/job_limits.hpp"
#include "agent/executor/local/job_watch.hpp"
#include "agent/executor/local/process_tree.hpp"
#include "agent/executor/local/profile_report.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "agent/executor/local/staging_report.hpp"
#include "agent/executor/local/status_file.hpp"
#include "core/base/file.hpp"
#include "core/base/process_limits.hpp"
#include "core/base/utf8_prefix.hpp"
#include "schema/link/messages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Served by one supervisor, so that nothing that it might lose an attempt lasts.
constexpr int kMaxServed = 1000;
constexpr std::size_t kMaxStartOrderBytes = 1UL << 20U;

/// Signals are read, not caught; blocked before anybody can know our number. Jobs get what signals do by default from
/// here.
void block_signals()
{
    for (int signal = 1; signal < NSIG; ++signal)
        ::signal(signal, SIG_DFL);
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGUSR1, SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

/// Says that an attempt has a supervisor that lives, and that it has had one.
class AttemptClaim {
  public:
    explicit AttemptClaim(const AttemptFolder& folder)
        : lock_(::open(folder.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        is_ours_ = lock_ >= 0 && take_lock(lock_) && make_marker(folder);
    }
    ~AttemptClaim()
    {
        if (lock_ >= 0) ::close(lock_);
    }
    AttemptClaim(const AttemptClaim&) = delete;
    AttemptClaim& operator=(const AttemptClaim&) = delete;

    /// This supervisor is the one that may start the attempt's program.
    bool is_ours() const { return is_ours_; }

  private:
    /// It is never deleted: a second one cannot be made. A power failure may forget it, but not that units were given
    /// to the attempt before: then the agent takes it for lost.
    static bool make_marker(const AttemptFolder& folder)
    {
        const int marker = ::open(folder.started().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (marker < 0) return false;
        ::close(marker);
        return true;
    }

    int lock_; ///< locked as long as it is open
    bool is_ours_;
};

/// What a supervisor has ready before it knows an attempt, and uses for one after another.
struct Preparation {
    Cgroup cgroup;
    Result<void> separated;         ///< whether namespaces can be made
    const SystemCallFilter* filter; ///< none: jobs may make all system calls
    JobChildren children{};
};

Result<void> separate(const Isolation& isolation)
{
    if (isolation.user_namespace) {
        if (Result<void> entered = enter_user_namespace(); !entered) return entered;
    }
    keep_memory_private(); // not before: a secret process may not map its users
    return {};
}

Cgroup make_cgroup(const CgroupLimits& limits)
{
    return Cgroup::create(supervisor_cgroup(name_process(::getpid()).value_or(ProcessName{})), limits);
}

Preparation prepare(const Isolation& isolation, const SystemCallFilter* filter)
{
    const std::optional<IoLimits> io = isolation.limits_io ? std::optional<IoLimits>(std::in_place) : std::nullopt;
    return {.cgroup = make_cgroup({.cpus = format_cpu_list(allowed_cpus()), .io = io}),
            .separated = separate(isolation),
            .filter = filter};
}

/// The attempt's limits, in a new group where that of the attempt before does not take them. False: neither does.
bool set_limits(Preparation& ready, const SupervisorOrder& order)
{
    Cgroup& cgroup = ready.cgroup;
    const RunOrder& run = order.run;
    const CgroupLimits limits{.cpus = format_cpu_list(run.cpus),
                              .memory_bytes = run.memory_bytes,
                              .processes = most_processes(run.cores),
                              .io = order.isolation.limits_io ? std::optional(order.io) : std::nullopt};
    const auto holds_io = [&] {
        const std::vector<std::string>& held = cgroup.controllers();
        return !limits.io || std::find(held.begin(), held.end(), "io") != held.end();
    };
    if (cgroup.limit(limits) && holds_io()) return true;
    const std::vector<std::string> wanted = cgroup.controllers();
    ready.children.waiting.end();
    cgroup.remove();
    cgroup = make_cgroup(limits);
    return cgroup.controllers() == wanted && holds_io();
}

void tell_who_we_are(const AttemptFolder& folder)
{
    const std::optional<ProcessName> self = name_process(::getpid());
    if (!self) return;
    static_cast<void>(write_file_unflushed(folder.supervisor(), encode_supervisor(*self), 0600));
}

AttemptEnd never_ran(const AttemptId& id, AttemptOutcome outcome, const std::string& reason)
{
    AttemptEnd end;
    end.attempt_id = id;
    end.outcome = outcome;
    end.detail = utf8_prefix(reason, 3000);
    end.ended_at = SystemClock().now();
    return end;
}

/// @param error  of start_job()
AttemptEnd not_started(const AttemptId& id, const Error& error)
{
    AttemptEnd end = never_ran(id, AttemptOutcome::kFailedToStart, error.detail);
    if (error.code == Errc::kInvalid) end.cause = AttemptCause::kProgramNotStarted;
    return end;
}

AttemptEnd run_attempt(const SupervisorOrder& order, const AttemptFolder& folder, Preparation& ready,
                       CachedInputs& inputs)
{
    const AttemptId& id = order.run.order.attempt_id;
    if (::access(folder.cancel().c_str(), F_OK) == 0) return never_ran(id, AttemptOutcome::kCancelled, "");
    if (const Result<void> made = prepare_work(order, folder, inputs.numbers()); !made)
        return never_ran(id, AttemptOutcome::kFailedToStart, made.error().detail);
    if (!ready.separated) return never_ran(id, AttemptOutcome::kFailedToStart, ready.separated.error().detail);
    if (!set_limits(ready, order))
        return never_ran(id, AttemptOutcome::kFailedToStart, "its control groups do not take its limits");
    const Result<JobProcess> job =
        start_job(order, folder, ready.cgroup, ready.filter, ready.children, inputs.numbers());
    inputs.close();
    AttemptEnd end = job ? watch_job(order, folder, *job, ready.cgroup) : not_started(id, job.error());
    const uid_t owner = order.user ? order.user->uid : ::geteuid();
    const bool has_run = job && (!uses_staging(order.run.order) || note_inputs(end, folder.work(), owner));
    if (has_run && !order.run.order.outputs.empty()) note_outputs(end, folder.work(), owner);
    if (has_run && order.run.order.profile) add_profile(end, folder.work());
    return end;
}

/// What the agent, and then the metascheduler, will read. What a job left must never make that impossible.
std::string status_text(AttemptEnd end)
{
    std::string text = link::encode(link::make_message(link::AttemptEnded{end}));
    if (std::holds_alternative<link::Message>(link::decode(text))) return text;
    end.profile = nullptr;
    end.outputs.clear();
    end.staging.reset();
    end.detail = "what the job left of itself could not be kept";
    return link::encode(link::make_message(link::AttemptEnded{end}));
}

/// The folder of the next attempt, a line on standard input; empty when the agent is gone or has no work for us.
std::filesystem::path wait_for_folder()
{
    std::string line;
    std::array<char, 4096> block; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    for (;;) {
        const ssize_t size = ::read(STDIN_FILENO, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return {};
        line.append(block.data(), static_cast<std::size_t>(size));
        if (!line.ends_with('\n')) continue; // the next one comes only when it is asked for
        line.pop_back();
        return line;
    }
}

/// The agent, if it still lives, may send the next folder.
bool ask_for_next()
{
    return ::send(STDIN_FILENO, kNextFolder.data(), kNextFolder.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(kNextFolder.size());
}

/// From the order to the end. @return whether another attempt can follow.
bool serve(const AttemptFolder& folder, Preparation& ready)
{
    const Result<std::string> text = read_file(folder.order(), 64UL << 20U);
    const Result<SupervisorOrder> order = text ? decode_supervisor_order(*text) : Result<SupervisorOrder>(text.error());
    if (!order) return false; // nothing was started, so another try is safe
    StatusFile status(folder);
    if (!status.has_space()) return false;
    const AttemptClaim claim(folder);
    if (!claim.is_ours()) return false;
    tell_who_we_are(folder);

    CachedInputs inputs(*order);
    const AttemptEnd end = run_attempt(*order, folder, ready, inputs);
    ready.children.waiting.end(); // where the job was never started
    const std::string told = status_text(end);
    const bool is_told = status.write(told);
    // From here on it keeps nobody waiting.
    if (is_told) inputs.keep_for_later(folder, end.outputs);
    // What resists is left to the agent, which says so.
    if (order->removes_work || !is_told) {
        for (const std::filesystem::path& made : {folder.work(), folder.tmp(), folder.var_tmp()})
            static_cast<void>(remove_tree(made));
    }
    // A large order has made this process large, and jobs start with its size as their most.
    const bool is_small = text->size() <= kMaxStartOrderBytes;
    // What is found by our name as that of a lost attempt's supervisor must not be another attempt.
    return (is_told || status.write(told)) && is_small && !has_children() && ready.cgroup.kill_all();
}

} // namespace

void supervise(const Isolation& isolation, const SystemCallFilter* filter)
{
    block_signals();
    ::prctl(PR_SET_NAME, "fathom-superv", 0, 0, 0);
    ::umask(077);
    adopt_orphans();
    Preparation ready = prepare(isolation, filter);
    for (int attempts = 0; attempts < kMaxServed; ++attempts) {
        ready.children.waiting.make(ready.cgroup);
        const std::filesystem::path path = wait_for_folder();
        if (path.empty() || !serve(AttemptFolder(path), ready) || !ask_for_next()) break;
    }
    ready.children.waiting.end();
    ready.cgroup.kill_all();
    ready.cgroup.remove();
}

} // namespace fathom::agent
