#pragma once

#include "cli/client/session.hpp"

#include <iosfwd>
#include <string>

namespace fathom::cli {

enum class LogStream { kStdout, kStderr };

struct JobLogOptions {
    LogStream stream = LogStream::kStdout;
    bool follow = false;
    std::int64_t offset_bytes = 0;
    std::string attempt{}; ///< its id or number; empty: the newest
};

/// Writes what a job has printed; with `follow` until it ends, going on where it was when the connection
/// breaks. Bytes as the job wrote them.
Result<void> copy_job_log(Session& session, const std::string& id, const JobLogOptions& options, std::ostream& out);

/// Follows both streams at once: the job's standard output to ours, its standard error to ours.
Result<void> follow_job_logs(Session& session, const std::string& id);

} // namespace fathom::cli
