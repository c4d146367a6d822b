#include "agent/app/balance_process.hpp"

#include "agent/app/shared_sub_units.hpp"
#include "agent/balance/balance_service.hpp"
#include "core/base/error_text.hpp"
#include "core/base/log.hpp"
#include "core/base/wait_for_child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kProcessName = "fathom-balance";
constexpr const char* kJournalName = "balance-journal";
constexpr std::size_t kTraceRing = 1000;
constexpr std::chrono::seconds kBalanceStopLimit{10};
constexpr std::chrono::milliseconds kBalanceStopLook{20};
/// Before the loops are started again after they ended by themselves; doubled while they do not last.
constexpr std::chrono::milliseconds kMinRestartPause{1000};
constexpr std::chrono::milliseconds kMaxRestartPause{60'000};

/// SIGTERM and SIGINT are blocked from now on, and end the process by way of this descriptor.
OpenFile catch_stop_signals()
{
    sigset_t stops;
    ::sigemptyset(&stops);
    ::sigaddset(&stops, SIGTERM);
    ::sigaddset(&stops, SIGINT);
    ::sigprocmask(SIG_BLOCK, &stops, nullptr);
    ::signal(SIGHUP, SIG_IGN);
    return OpenFile(::signalfd(-1, &stops, SFD_CLOEXEC));
}

/// In the process of the loops.
int run_loops(const AgentConfig& config, const AgentFolder& folder, const HostFiles& files, pid_t keeper,
              int stop_descriptor)
{
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != keeper) return 1;
    const std::unique_ptr<SubUnitSource> sub_units = make_sub_unit_source(folder, config.tables.sub_units);
    // What the journal names must be found from another working folder, too.
    const std::filesystem::path state_dir = std::filesystem::absolute(config.state_dir);
    OpenFile traces(::fcntl(folder.folder.number(), F_DUPFD_CLOEXEC, 0));
    const uid_t owner = folder.user ? folder.user->uid : ::geteuid();
    const gid_t group = folder.user ? folder.user->gid : ::getegid();
    BalanceService service(config.tables.balance,
                           {.attempts = state_dir / "attempts", .journal = state_dir / kJournalName, .files = files},
                           BalanceTrace(std::move(traces), owner, group, config.tables.balance.trace_bytes, kTraceRing),
                           *sub_units);
    log_info("balance_started", {{"units", config.tables.balance.units.size()},
                                 {"dry_run", config.tables.balance.dry_run},
                                 {"period_s", config.tables.balance.period_s}});
    const Result<void> ran = run_balance(service, config.tables.balance.period_s, stop_descriptor);
    if (ran) return 0;
    log_error("balance_not_started", {{"reason", ran.error().detail}});
    return 1;
}

bool is_readable_within(int descriptor, std::chrono::milliseconds limit)
{
    pollfd wait{descriptor, POLLIN, 0};
    return ::poll(&wait, 1, static_cast<int>(limit.count())) > 0;
}

/// Waits for the end of the loops' process, which it stops when it is itself asked to.
/// @return waitpid()'s status; empty: it was stopped.
std::optional<int> wait_for_loops(pid_t loops, int stop_descriptor)
{
    const bool is_stopped = !wait_for_child_or_input(loops, open_child_end(loops), stop_descriptor);
    if (is_stopped) ::kill(loops, SIGTERM);
    int status = 0;
    reap_child(loops, status);
    return is_stopped ? std::nullopt : std::optional<int>(status);
}

void log_end(int status, std::chrono::milliseconds pause)
{
    log_error("balance_ended", {{"signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0},
                                {"status", WIFEXITED(status) ? WEXITSTATUS(status) : 0},
                                {"effect", "what it changed stays so until it starts again, in " +
                                               std::to_string(pause.count() / 1000) + " s"}});
}

/// In the child: starts the loops, and starts them again while they end by themselves. What the last ones have left
/// changed, the next put back first.
int keep_loops_running(const AgentConfig& config, const AgentFolder& folder, const HostFiles& files, pid_t helper)
{
    ::prctl(PR_SET_NAME, kProcessName);
    ::setsid(); // a Ctrl-C at the terminal reaches the helper, which stops this one
    const OpenFile stop = catch_stop_signals();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != helper) return 1;
    const pid_t keeper = ::getpid();
    for (std::chrono::milliseconds pause = kMinRestartPause;; pause = std::min(2 * pause, kMaxRestartPause)) {
        const auto began = std::chrono::steady_clock::now();
        const pid_t loops = ::fork();
        if (loops == 0) ::_exit(run_loops(config, folder, files, keeper, stop.number()));
        if (loops < 0) {
            log_error("balance_not_started", {{"reason", error_text(errno)}});
        } else {
            const std::optional<int> status = wait_for_loops(loops, stop.number());
            if (!status) return 0;
            if (std::chrono::steady_clock::now() - began > kMaxRestartPause) pause = kMinRestartPause;
            log_end(*status, pause);
        }
        if (is_readable_within(stop.number(), pause)) return 0;
    }
}

} // namespace

BalanceProcess::BalanceProcess(const AgentConfig& config, const AgentFolder& folder, const HostFiles& files)
{
    if (!config.tables.balance.enabled) {
        const std::unique_ptr<SubUnitSource> sub_units = make_sub_unit_source(folder, config.tables.sub_units);
        put_back_earlier_changes(config.state_dir / kJournalName, *sub_units);
        return;
    }
    if (config.uses_slurm || config.uses_kubernetes)
        log_warning("balance_has_no_jobs",
                    {{"reason", "units are balanced where this host runs the jobs, not Slurm or Kubernetes"}});
    const pid_t helper = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
        // Not exit(): what the parent holds is not this process's to take down.
        ::_exit(keep_loops_running(config, folder, files, helper));
    }
    if (process < 0)
        log_error("balance_not_started", {{"reason", error_text(errno)}});
    else
        process_ = process;
}

BalanceProcess::~BalanceProcess()
{
    if (process_ == 0) return;
    ::kill(process_, SIGTERM);
    const auto limit = std::chrono::steady_clock::now() + kBalanceStopLimit;
    for (;;) {
        const pid_t ended = ::waitpid(process_, nullptr, WNOHANG);
        if (ended == process_ || (ended < 0 && errno != EINTR)) return;
        if (std::chrono::steady_clock::now() > limit) break;
        std::this_thread::sleep_for(kBalanceStopLook);
    }
    log_error("balance_does_not_stop", {{"effect", "it is killed; the next start of the agent puts back what it set"}});
    ::kill(-process_, SIGKILL); // its group: the loops, too
    ::waitpid(process_, nullptr, 0);
}

} // namespace fathom::agent
