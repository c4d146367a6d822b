#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/job_look.hpp"

#include <string>

namespace fathom::server {

/// Who asked for a privileged act, for the audit log.
struct Caller {
    std::string actor;      ///< token id, center id or replica id
    std::string request_id; ///< empty when no request is behind it
};

inline Caller caller_of(const Call& call)
{
    return {call.principal.token_id.value, call.request.request_id};
}

inline JobReader reader_of(const Call& call)
{
    return {call.principal, call.request.request_id};
}

} // namespace fathom::server
