#pragma once

#include "core/base/result.hpp"

namespace fathom::cli {

/// What the program tells its caller; part of its contract (`fathom --help`).
enum class ExitCode : int {
    kOk = 0,           ///< done; a job that was waited for has succeeded
    kFailed = 1,       ///< a job failed or was cancelled, or the server refused (a conflict, say)
    kUsage = 2,        ///< wrong usage or input
    kUnreachable = 3,  ///< no server there, or its certificate is not trusted
    kDenied = 4,       ///< no valid token, or its role does not allow this
    kNotFound = 5,     ///< no such thing, or not ours to see
    kInfeasible = 6,   ///< understood, but no center can do it
    kTimedOut = 7,     ///< --timeout-s has passed
    kInterrupted = 130 ///< Ctrl-C; what was started goes on
};

/// What a command gives back: how the program shall exit, or what went wrong.
using Outcome = Result<ExitCode>;

/// The exit code of a failure; the one place that maps them.
ExitCode exit_code_of(Errc code);

} // namespace fathom::cli
