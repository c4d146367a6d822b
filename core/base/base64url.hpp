#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Base64 with the alphabet for addresses and file names, without padding (RFC 4648, section 5).
std::string base64url_encode(std::string_view data);
/// Empty: the text is not what base64url_encode() writes.
std::optional<std::string> base64url_decode(std::string_view text);

} // namespace fathom
