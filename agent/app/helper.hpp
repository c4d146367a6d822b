#pragma once

#include "agent/app/agent_folder.hpp"
#include "agent/app/gpu_memory_start.hpp"
#include "agent/config/agent_config.hpp"
#include "agent/executor/remote/remote_executor.hpp"

#include <csignal>
#include <functional>

namespace fathom::agent {

/// SIGTERM, SIGINT and SIGHUP: what the helper passes on to the agent.
sigset_t passed_signals();

/// What the agent does in its own process; returns its exit status.
using AgentMain = std::function<int(const AgentConfig&, RemoteExecutor&, GpuMemoryPlace)>;

/// `fathom-agent run` is two processes. The *helper* keeps the rights it was started with and hears only the agent: it
/// holds the state folder, starts jobs by a LocalExecutor (ExecutorService says what of it the agent may ask for),
/// reads the settings, and passes SIGTERM, SIGINT and SIGHUP on. The *agent* (`serve`, in a child) hears the network;
/// its working folder is STATE/agent. Started as root it becomes the user `fathom-agent`, or one of its own where there
/// is no such account (AgentFolder). Neither outlives the other: what one does when the other is killed, the kernel
/// does. Jobs go on under their supervisors.
///
/// `reread` gives the settings anew; empty when they are wrong (then they have been reported). Call it before there are
/// threads. Blocks until both have ended.
/// @return the agent's exit status, 128 + N when signal N ended it, 1 when it could not be started.
int run_with_helper(const AgentConfig& config, const std::function<std::optional<AgentConfig>()>& reread,
                    const AgentMain& serve);

} // namespace fathom::agent
