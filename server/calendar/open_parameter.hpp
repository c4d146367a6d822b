#pragma once

#include "core/net/http.hpp"

#include <string>

namespace fathom::server {

/// The query parameter `open`: true for what has neither ended nor been cancelled only; false, or missing, for all.
/// @error kInvalid  anything else.
inline Result<bool> parse_open_parameter(const net::Request& request)
{
    const auto found = request.query.find("open");
    if (found == request.query.end() || found->second == "false") return false;
    if (found->second == "true") return true;
    return Error(Errc::kInvalid, "the query has 1 error", {{"open", "must be true or false"}});
}

} // namespace fathom::server
