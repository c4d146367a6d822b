#pragma once

// Internal to core/net.

#include "core/net/http.hpp"

#include <cstddef>
#include <optional>

namespace fathom::net {

/// How the body of an answer is framed.
enum class BodyFraming { kLength, kChunked, kUntilClose };

struct HeadFacts {
    std::string_view request_id;
    BodyFraming framing = BodyFraming::kLength;
    std::size_t body_bytes = 0; ///< for kLength
    bool keep_alive = false;
};

/// Writes status line and header to the end of `out`. Line breaks in header values become spaces, so
/// that no value can add a header; Content-Length, Transfer-Encoding, Connection and Date are ours.
void append_head(std::string& out, const Response& response, const HeadFacts& facts);

/// Whether a status may carry a body at all (not 1xx, 204, 304).
bool has_body(int status);

} // namespace fathom::net
