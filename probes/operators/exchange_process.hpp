#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace fathom::probes {

/// This process's environment, as NAME=VALUE.
std::vector<std::string> own_environment();

/// What executes an operator between processes, as this side sees it: it is told something a line and answers a line.
/// Of MPI it is the launcher, and rank 0 of fathom-mpi-probe answers; else fathom-tcp-probe. It ends with this object,
/// and with the thread that started it. What comes from it is bounded: a reply by kMaxExchangeReplyBytes, all that it
/// says between two replies by 64 KiB. Not thread-safe.
class ExchangeProcess {
  public:
    /// @param command      the first word is the path of a program
    /// @param environment  NAME=VALUE
    /// @param name         of the program that answers, for messages
    /// @error kUnavailable  the system starts no process
    static Result<std::unique_ptr<ExchangeProcess>> start(std::vector<std::string> command,
                                                          std::vector<std::string> environment, std::string name);
    /// Closes its standard input, at which it should end; what does not end in some seconds is ended, and what has
    /// failed at once.
    ~ExchangeProcess();
    ExchangeProcess(const ExchangeProcess&) = delete;
    ExchangeProcess& operator=(const ExchangeProcess&) = delete;

    /// The next line that begins with kExchangeReplyPrefix; others are skipped. Blocks.
    /// @error kUnavailable  it has ended, says too much, or nothing within `limit`; with its last words on standard
    /// error
    Result<std::string> read_reply(std::chrono::milliseconds limit);

    /// Tells it `command` and waits for the answer.
    /// @error as read_reply()
    Result<std::string> ask(std::string_view command, std::chrono::milliseconds limit);

  private:
    ExchangeProcess(pid_t pid, OpenFile socket, OpenFile stderr_memory, std::string name);
    std::string last_words() const;
    Error failed(const std::string& what);

    pid_t pid_;
    OpenFile socket_; ///< its standard input and output
    OpenFile stderr_memory_;
    std::string name_;
    std::string unread_;
    bool has_failed_ = false;
};

} // namespace fathom::probes
