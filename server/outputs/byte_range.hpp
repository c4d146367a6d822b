#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::server {

/// Bytes of something that has a known size.
struct ByteRange {
    std::int64_t first{};
    std::int64_t size{}; ///< at least 1

    bool operator==(const ByteRange&) const = default;
};

/// What the header Range of a request asks for.
struct AskedRange {
    enum class Kind {
        kAll, ///< there is none; or one of another unit, of several ranges or malformed, which RFC 9110 lets be ignored
        kPart, ///< `part`
        kNone, ///< it begins behind the end
    };
    Kind kind = Kind::kAll;
    ByteRange part{};
};

/// Of one range: "bytes=100-", "bytes=100-199", "bytes=-100". Pure.
/// @param size_bytes  of the whole
AskedRange parse_byte_range(std::string_view header, std::int64_t size_bytes);

} // namespace fathom::server
