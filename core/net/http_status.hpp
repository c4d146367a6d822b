#pragma once

// Internal to core/net.

#include "core/net/http.hpp"

namespace fathom::net {

/// "Not Found" for 404; "<unknown-status>" for what is none.
std::string_view reason_phrase(int status);

/// problem() with a status that no Errc maps to (405, 431, …).
Response status_problem(int status, const Error& error, std::string_view request_id);

} // namespace fathom::net
