#pragma once

#include "core/base/result.hpp"

namespace fathom::server {

/// True when sending the same message again later can help: the agent must keep it.
inline bool is_transient(Errc code)
{
    switch (code) {
    case Errc::kUnavailable:
    case Errc::kDeadline:
    case Errc::kTooMany:
    case Errc::kInternal:
        return true;
    case Errc::kInvalid:
    case Errc::kUnauthenticated:
    case Errc::kForbidden:
    case Errc::kNotFound:
    case Errc::kConflict:
    case Errc::kInfeasible:
    case Errc::kTooLarge:
        return false;
    }
    return true;
}

} // namespace fathom::server
