#pragma once

#include "core/net/http.hpp"

#include <cstdint>
#include <string>

namespace fathom::server {

/// A row version as an ETag, and the check of If-Match against it (missing header: allowed).
std::string etag(std::int64_t version);
/// @error kConflict (412 is sent by the caller through precondition_failed)
bool if_match_allows(const net::Request& request, std::int64_t version);
net::Response precondition_failed(const net::Request& request);

} // namespace fathom::server
