#include "agent/app/helper.hpp"

#include "agent/app/balance_process.hpp"
#include "agent/app/job_executor.hpp"
#include "agent/app/probe_access.hpp"
#include "agent/app/state_folder.hpp"
#include "agent/config/cpu_list.hpp"
#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/remote/executor_service.hpp"
#include "agent/executor/remote/kept_file_channel.hpp"
#include "core/base/error_text.hpp"
#include "core/base/log.hpp"
#include "core/base/process_limits.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

// For ps, top and pgrep; both have the same command line.
constexpr const char* kHelperName = "fathom-helper";
constexpr const char* kAgentName = "fathom-agent";

/// The helper's process after the fork: one thread that waits for the agent's requests, for signals and for its end.
class Helper {
  public:
    Helper(ExecutorService& service, OpenFile requests, pid_t agent, OpenFile signals)
        : service_(service), requests_(std::move(requests)), agent_(agent), agent_end_(open_child_end(agent)),
          signals_(std::move(signals))
    {
    }

    /// Until the agent has ended.
    int run();

  private:
    void serve_request();
    void pass_signal_on() const;
    int finish() const;

    ExecutorService& service_;
    OpenFile requests_;
    pid_t agent_;
    OpenFile agent_end_; ///< none is open where the system gives none: then the agent is looked at
    OpenFile signals_;
};

int Helper::run()
{
    for (;;) {
        std::array<pollfd, 3> waits{{{agent_end_.number(), POLLIN, 0},
                                     {signals_.number(), POLLIN, 0},
                                     {requests_.number(), POLLIN, 0}}}; // -1: nothing to wait for
        if (::poll(waits.data(), waits.size(), child_poll_limit_ms(agent_end_)) < 0 && errno != EINTR) return finish();
        if (has_child_ended(agent_)) return finish();
        if (waits[1].revents != 0) pass_signal_on();
        if (waits[2].revents != 0) serve_request();
    }
}

void Helper::serve_request()
{
    const Result<std::string> request = receive_message(requests_.number());
    Result<void> served = request ? Result<void>() : request.error();
    if (request) {
        if (const std::optional<std::string> answer = service_.serve(*request))
            served = send_message(requests_.number(), *answer);
    }
    if (served) return;
    requests_ = OpenFile(); // it is ending, or shall
    if (served.error().code == Errc::kNotFound) return;
    log_error("agent_not_understood", {{"reason", served.error().detail}});
    ::kill(agent_, SIGKILL);
}

void Helper::pass_signal_on() const
{
    signalfd_siginfo signal{};
    if (::read(signals_.number(), &signal, sizeof signal) != sizeof signal) return;
    ::kill(agent_, static_cast<int>(signal.ssi_signo));
}

int Helper::finish() const
{
    ::kill(agent_, SIGKILL); // where poll() failed; else it has ended
    int status = 0;
    reap_child(agent_, status);
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    log_error("agent_process_ended", {{"signal", WTERMSIG(status)}, {"effect", "the agent stops; jobs go on"}});
    return 128 + WTERMSIG(status);
}

/// The agent's process, still alone in it: gives up what it need not have, and serves.
int run_agent_process(AgentConfig config, const AgentFolder& folder, pid_t helper, RemoteExecutor executor,
                      GpuMemoryPlace gpu_memory, const AgentMain& serve)
{
    ::prctl(PR_SET_NAME, kAgentName);
    ::setsid(); // a Ctrl-C at the terminal reaches the helper, which passes it on, once
    config.probe_program = std::filesystem::absolute(config.probe_program);
    Result<void> ready = enter(folder);
    if (folder.user) config.probe_program = let_reach(config.probe_program, *folder.user);
    if (ready) ready = give_up_rights(folder.user);
    if (ready) ready = end_with_parent(helper);
    if (!ready) {
        std::cerr << "fathom-agent run: " << ready.error().detail << std::endl;
        return 1;
    }
    return serve(config, executor, std::move(gpu_memory));
}

std::vector<std::int64_t> offered_cpus(const AgentConfig& config)
{
    return config.cpus.empty() ? allowed_cpus() : config.cpus;
}

/// What both processes need, made while there is one.
struct Preparation {
    OpenFile lock; ///< held by both, so that no other agent begins before the last of them has ended
    AgentFolder folder;
    GpuMemoryPlace gpu_memory;
    std::unique_ptr<Executor> executor;
};

Result<Preparation> prepare(const AgentConfig& config)
{
    if (!is_enrolled(config.state_dir))
        return Error{Errc::kNotFound,
                     config.state_dir.string() + " is not enrolled: first run fathom-agent enrol (see its --help)"};
    Preparation ready;
    Result<OpenFile> lock = take_state_lock(config.state_dir);
    if (!lock) return lock.error();
    ready.lock = std::move(*lock);
    Result<AgentFolder> folder = prepare_agent_folder(config.state_dir);
    if (!folder) return folder.error();
    ready.folder = std::move(*folder);
    enter_leaf_group();
    Result<GpuMemoryPlace> gpu_memory = prepare_gpu_memory(config);
    if (!gpu_memory) return gpu_memory.error();
    ready.gpu_memory = std::move(*gpu_memory);
    Result<std::unique_ptr<Executor>> executor = make_job_executor(config, ready.folder.user, ready.gpu_memory.folder);
    if (!executor) return executor.error();
    ready.executor = std::move(*executor);
    return ready;
}

/// They are blocked from now on, and read from the descriptor.
OpenFile catch_signals(sigset_t& before)
{
    const sigset_t passed = passed_signals();
    ::sigprocmask(SIG_BLOCK, &passed, &before);
    return OpenFile(::signalfd(-1, &passed, SFD_CLOEXEC));
}

int refuse(const Error& error)
{
    std::cerr << "fathom-agent run: " << describe(error) << std::endl;
    return 1;
}

} // namespace

sigset_t passed_signals()
{
    sigset_t passed;
    ::sigemptyset(&passed);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&passed, signal);
    return passed;
}

int run_with_helper(const AgentConfig& config, const std::function<std::optional<AgentConfig>()>& reread,
                    const AgentMain& serve)
{
    ::prctl(PR_SET_NAME, kHelperName);
    Result<Preparation> ready = prepare(config);
    if (!ready) return refuse(ready.error());
    const BalanceProcess balance(config, ready->folder);
    keep_memory_private(); // not before: to try what isolates jobs, a secret process may not map its users
    Result<ExecutorSockets> sockets = make_executor_sockets();
    if (!sockets) return refuse(sockets.error());
    Result<ExecutorSockets> files = make_executor_sockets();
    if (!files) return refuse(files.error());
    const pid_t helper = ::getpid();
    sigset_t before;
    OpenFile signals = catch_signals(before);
    const pid_t agent = ::fork();
    if (agent < 0 || signals.number() < 0)
        return refuse({Errc::kUnavailable, "cannot start the agent's second process: " + error_text(errno)});
    if (agent == 0) {
        signals = OpenFile();
        sockets->helper = OpenFile();
        files->helper = OpenFile();
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        RemoteExecutor executor(std::move(sockets->agent), OpenFile(ready->executor->change_descriptor()),
                                ready->executor->facts(), ready->executor->places(),
                                ask_for_kept_files(std::move(files->agent)));
        // Not return: what is held here is the helper's to take down.
        std::exit(run_agent_process(config, ready->folder, helper, std::move(executor), std::move(ready->gpu_memory),
                                    serve)); // NOLINT(concurrency-mt-unsafe): its threads have ended, or hang in a read
    }
    sockets->agent = OpenFile();
    files->agent = OpenFile();
    serve_kept_files(std::move(files->helper), ready->executor->kept_file_read());
    ready->gpu_memory.listener = OpenFile();
    ExecutorService service(*ready->executor);
    service.offer(offered_cpus(config));
    service.read_settings = [&]() -> Result<std::string> {
        const std::optional<AgentConfig> settings = reread();
        if (!settings) return Error{Errc::kInvalid, "they are wrong"};
        start_log("fathom-agent", settings->log_level);
        service.offer(offered_cpus(*settings));
        return encode_changed_settings(*settings);
    };
    return Helper(service, std::move(sockets->helper), agent, std::move(signals)).run();
}

} // namespace fathom::agent
