#include "agent/app/run.hpp"

#include "agent/app/daemon.hpp"
#include "agent/app/helper.hpp"
#include "core/base/process_limits.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <iostream>

namespace fathom::agent {
namespace {

SettingsProgram run_settings()
{
    return agent_settings("fathom-agent run",
                          "Offers this machine to the metascheduler and runs the jobs that it sends.\n\n"
                          "SIGTERM and SIGINT stop the agent; jobs go on, and the next start finds them again.\n"
                          "SIGHUP reads the settings again and reports what has changed.\n"
                          "The config file may also hold the tables [[unit_type]], [environment] and [operators]:\n"
                          "see agent/README.md.",
                          true);
}

std::optional<AgentConfig> read_config(int argc, const char* const* argv, int& exit_code)
{
    const SettingsOutcome outcome = read_settings(run_settings(), argc, argv);
    exit_code = outcome.exit_code;
    if (outcome.kind == SettingsOutcome::Kind::kExit) return std::nullopt;
    Result<AgentConfig> config = make_agent_config(outcome);
    if (config) return std::move(*config);
    std::cerr << "fathom-agent run: " << describe(config.error()) << "\n";
    exit_code = 2;
    return std::nullopt;
}

int run_daemon(const AgentConfig& config, RemoteExecutor& executor, GpuMemoryPlace gpu_memory)
{
    Daemon daemon(config, executor, std::move(gpu_memory));
    if (const Result<void> ready = daemon.prepare(); !ready) {
        std::cerr << "fathom-agent run: " << describe(ready.error()) << "\n";
        return 1;
    }
    daemon.run();
    return 0;
}

/// A service manager signals both processes, and the helper passes its signal on: the second one must not end what is
/// ending. So there are handlers until the daemon's threads have ended, and then the signals are blocked.
int serve(const AgentConfig& config, RemoteExecutor& executor, GpuMemoryPlace gpu_memory)
{
    boost::asio::io_context context;
    const boost::asio::signal_set handled(context, SIGTERM, SIGINT, SIGHUP);
    const int exit_code = run_daemon(config, executor, std::move(gpu_memory));
    const sigset_t signals = passed_signals();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return exit_code;
}

} // namespace

int run_command(int argc, const char* const* argv)
{
    int exit_code = 0;
    const std::optional<AgentConfig> config = read_config(argc, argv, exit_code);
    if (!config) return exit_code;
    start_log("fathom-agent", config->log_level);
    ::signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();

    const auto reread = [argc, argv] {
        int ignored = 0;
        return read_config(argc, argv, ignored);
    };
    return run_with_helper(*config, reread, &serve);
}

} // namespace fathom::agent
