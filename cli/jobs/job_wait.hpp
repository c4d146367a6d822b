#pragma once

#include "cli/client/session.hpp"

#include <optional>
#include <string>

namespace fathom::cli {

struct JobWaitOptions {
    enum class Until {
        kStarted, ///< running, or ended
        kEnded,
    } until = Until::kEnded;
    std::optional<double> timeout_s{};
    bool verbose = false; ///< state changes on standard error also where it is no terminal
};

/// Waits for a job by the server's live events, and asks every now and then in case one was missed.
/// @return the job as it is then. @error kDeadline  `timeout_s` has passed; the job goes on.
Result<Json> wait_for_job(Session& session, const std::string& id, const JobWaitOptions& options);

/// "job_01J… succeeded at alpha/core: exit code 0, run 12.3 s (predicted 11.8 s)".
std::string job_summary(const Json& job);

/// Ok for a job that has succeeded, kFailed for another that has ended.
ExitCode exit_code_of_job(const Json& job);

/// What Ctrl-C says while a job is waited for.
std::string interrupt_text(const std::string& id);

} // namespace fathom::cli
