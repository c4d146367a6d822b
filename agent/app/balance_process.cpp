#include "agent/app/balance_process.hpp"

#include "agent/app/shared_sub_units.hpp"
#include "agent/balance/balance_service.hpp"
#include "core/base/error_text.hpp"
#include "core/base/log.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
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

/// In the child.
int run_balance_process(const AgentConfig& config, const AgentFolder& folder, pid_t helper)
{
    ::prctl(PR_SET_NAME, kProcessName);
    ::setsid(); // a Ctrl-C at the terminal reaches the helper, which stops this one
    const OpenFile stop = catch_stop_signals();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != helper) return 1;
    const std::unique_ptr<SubUnitSource> sub_units = make_sub_unit_source(folder, config.tables.sub_units);
    // What the journal names must be found from another working folder, too.
    const std::filesystem::path state_dir = std::filesystem::absolute(config.state_dir);
    OpenFile traces(::fcntl(folder.folder.number(), F_DUPFD_CLOEXEC, 0));
    const uid_t owner = folder.user ? folder.user->uid : ::geteuid();
    const gid_t group = folder.user ? folder.user->gid : ::getegid();
    BalanceService service(
        config.tables.balance, {.attempts = state_dir / "attempts", .journal = state_dir / kJournalName, .files = {}},
        BalanceTrace(std::move(traces), owner, group, config.tables.balance.trace_bytes, kTraceRing), *sub_units);
    log_info("balance_started", {{"units", config.tables.balance.units.size()},
                                 {"dry_run", config.tables.balance.dry_run},
                                 {"period_s", config.tables.balance.period_s}});
    const Result<void> ran = run_balance(service, config.tables.balance.period_s, stop.number());
    if (ran) return 0;
    log_error("balance_not_started", {{"reason", ran.error().detail}});
    return 1;
}

} // namespace

BalanceProcess::BalanceProcess(const AgentConfig& config, const AgentFolder& folder)
{
    if (!config.tables.balance.enabled) {
        const std::unique_ptr<SubUnitSource> sub_units = make_sub_unit_source(folder, config.tables.sub_units);
        put_back_earlier_changes(config.state_dir / kJournalName, *sub_units);
        return;
    }
    if (config.uses_slurm)
        log_warning("balance_has_no_jobs", {{"reason", "units are balanced where this host runs the jobs, not Slurm"}});
    const pid_t helper = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
        // Not exit(): what the parent holds is not this process's to take down.
        ::_exit(run_balance_process(config, folder, helper));
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
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
}

} // namespace fathom::agent
