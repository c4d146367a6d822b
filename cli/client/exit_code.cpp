#include "cli/client/exit_code.hpp"

namespace fathom::cli {

ExitCode exit_code_of(Errc code)
{
    switch (code) {
    case Errc::kInvalid:
    case Errc::kTooLarge:
        return ExitCode::kUsage;
    case Errc::kUnauthenticated:
    case Errc::kForbidden:
        return ExitCode::kDenied;
    case Errc::kNotFound:
        return ExitCode::kNotFound;
    case Errc::kInfeasible:
        return ExitCode::kInfeasible;
    case Errc::kUnavailable:
        return ExitCode::kUnreachable;
    case Errc::kDeadline:
        return ExitCode::kTimedOut;
    case Errc::kConflict:
    case Errc::kTooMany:
    case Errc::kInternal:
        return ExitCode::kFailed;
    }
    return ExitCode::kFailed;
}

} // namespace fathom::cli
