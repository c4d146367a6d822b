#pragma once

#include "core/base/result.hpp"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::probes {

/// The processes that the coordinator has started; they end with it, and with this object. They read nothing from its
/// standard input, and what they write goes to its standard error.
class StartedTeam {
  public:
    StartedTeam() = default;
    ~StartedTeam();
    StartedTeam(const StartedTeam&) = delete;
    StartedTeam& operator=(const StartedTeam&) = delete;

    /// Forks one process more, which runs `work` and ends with what it returns.
    /// @error kUnavailable  the system starts no process
    Result<void> fork_member(const std::function<int()>& work);

    /// Starts a program, such as a launcher that starts the processes on several hosts.
    /// @param command      the first word is the path of a program
    /// @param environment  NAME=VALUE
    /// @error as fork_member()
    Result<void> launch(std::vector<std::string> command, std::vector<std::string> environment);

    /// Whether one of them has ended.
    bool has_lost_one() const;

  private:
    std::vector<pid_t> children_;
};

} // namespace fathom::probes
