#pragma once

#include "agent/app/agent_folder.hpp"
#include "agent/balance/host_files.hpp"
#include "agent/config/agent_config.hpp"

namespace fathom::agent {

/// The process that balances units (agent/balance), a child of the helper with its rights: clocks are root's to set. It
/// hears no network. It keeps the loops in a child of its own and starts them again when they end by themselves. They
/// put back what they have changed when they are stopped, and when the helper dies; after kill -9 their next start
/// does.
class BalanceProcess {
  public:
    /// Starts it where the settings say so; else puts back what an earlier one may have left. In a process with one
    /// thread that has blocked no signals yet.
    /// @param files  of the host.
    BalanceProcess(const AgentConfig& config, const AgentFolder& folder, const HostFiles& files = {});
    /// Stops it, and waits until everything is put back, at most for seconds.
    ~BalanceProcess();
    BalanceProcess(const BalanceProcess&) = delete;
    BalanceProcess& operator=(const BalanceProcess&) = delete;

  private:
    pid_t process_ = 0; ///< 0: there is none
};

} // namespace fathom::agent
