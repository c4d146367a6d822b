#pragma once

#include "core/base/json_reader.hpp"
#include "core/net/http.hpp"

#include <cstdint>
#include <string>

namespace fathom::server {

/// The part of a list that is asked for.
struct PageRequest {
    std::int64_t size = 50; ///< 1…1000
    std::string after;      ///< opaque key of the last row of the previous page, decoded; empty for the first page
};
/// Reads page_size and page_token, of a query that was checked. @error kInvalid  the token is none of ours.
Result<PageRequest> parse_page_request(const net::Request& request);

/// `{"items": […], "next_page_token": "…"|null}`; `next_after` empty on the last page.
net::Response page_response(Json items, const std::string& next_after);

} // namespace fathom::server
