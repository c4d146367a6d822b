#pragma once

#include "tests/agent/support/builders.hpp"

namespace fathom::agent::test {

/// `fathom-agent` as a process, in a folder of its own.
class AgentProcess {
  public:
    AgentProcess() = default;
    ~AgentProcess();
    AgentProcess(const AgentProcess&) = delete;
    AgentProcess& operator=(const AgentProcess&) = delete;

    /// Runs a subcommand to its end; its exit code.
    int call(std::vector<std::string> arguments);
    /// Starts `run` in the background.
    void start();
    void signal(int number) const;
    /// Sends the signal and waits for the end; its wait status.
    int stop(int number);

    std::filesystem::path state_dir() const { return folder_.path() / "state"; }
    /// Of the process that hears the network.
    std::filesystem::path own_folder() const { return state_dir() / "agent"; }
    std::filesystem::path config() const { return folder_.path() / "agent.toml"; }
    const std::filesystem::path& folder() const { return folder_.path(); }
    std::string log() const; ///< what it wrote to standard error so far

  private:
    int spawn(std::vector<std::string> arguments) const;

    TemporaryFolder folder_;
    int pid_{};
};

} // namespace fathom::agent::test
