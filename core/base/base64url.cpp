#include "core/base/base64url.hpp"

#include "core/base/secret.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fathom {

std::string base64url_encode(std::string_view data)
{
    std::string text = base64_encode(data);
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    text.erase(text.find_last_not_of('=') + 1);
    return text;
}

std::optional<std::string> base64url_decode(std::string_view text)
{
    if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
    std::string standard(text);
    std::replace(standard.begin(), standard.end(), '-', '+');
    std::replace(standard.begin(), standard.end(), '_', '/');
    standard.append((4 - standard.size() % 4) % 4, '=');
    Base64Decoded decoded = base64_decode(standard);
    if (!decoded.ok) return std::nullopt;
    return std::move(decoded.data);
}

} // namespace fathom
