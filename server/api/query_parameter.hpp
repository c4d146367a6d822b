#pragma once

#include "core/net/http.hpp"

#include <charconv>
#include <cstdint>
#include <string>

namespace fathom::server {

/// A query parameter that is a whole number of at least 1; 0 when it is not given.
/// @error kInvalid  anything else.
inline Result<std::int64_t> parse_version_parameter(const net::Request& request, const std::string& name)
{
    const auto found = request.query.find(name);
    if (found == request.query.end()) return std::int64_t{0};
    const std::string& text = found->second;
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec == std::errc{} && end == text.data() + text.size() && value >= 1) return value;
    Error error{Errc::kInvalid, "the request has 1 error"};
    error.fields.push_back({name, "must be a whole number of at least 1"});
    return error;
}

} // namespace fathom::server
