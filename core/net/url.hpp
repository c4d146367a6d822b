#pragma once

// Internal to core/net.

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::net {

/// Decodes %XX. Empty when an escape is malformed, or the outcome holds NUL or is not UTF-8.
std::optional<std::string> percent_decode(std::string_view text);

/// Decodes `a=1&b=x+y`, where `+` is a space; the last of equal names wins. Empty as percent_decode.
std::optional<std::map<std::string, std::string>> parse_query(std::string_view text);

/// The parts of a request target, still encoded.
struct TargetParts {
    std::string_view path;
    std::string_view query;
};

/// Splits `/path?query` or `https://host/path?query`. Empty when it is neither.
std::optional<TargetParts> split_target(std::string_view target);

} // namespace fathom::net
