#include "core/net/url.hpp"

#include "core/base/hex.hpp"
#include "core/base/utf8.hpp"

#include <algorithm>

namespace fathom::net {
namespace {

enum class Plus { kLiteral, kSpace };

std::optional<std::string> decode(std::string_view text, Plus plus)
{
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const std::optional<unsigned char> byte = parse_hex_byte(text[i + 1], text[i + 2]);
            if (!byte) return std::nullopt;
            decoded += static_cast<char>(*byte);
            i += 2;
        } else if (text[i] == '+' && plus == Plus::kSpace) {
            decoded += ' ';
        } else {
            decoded += text[i];
        }
    }
    if (decoded.find('\0') != std::string::npos || !is_utf8(decoded)) return std::nullopt;
    return decoded;
}

} // namespace

std::optional<std::string> percent_decode(std::string_view text)
{
    return decode(text, Plus::kLiteral);
}

std::optional<std::map<std::string, std::string>> parse_query(std::string_view text)
{
    std::map<std::string, std::string> values;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        auto name = decode(pair.substr(0, equals), Plus::kSpace);
        auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Plus::kSpace);
        if (!name || !value) return std::nullopt;
        values.insert_or_assign(std::move(*name), std::move(*value));
    }
    return values;
}

std::optional<TargetParts> split_target(std::string_view target)
{
    // RFC 9112 3.2.2: servers must understand the absolute form too.
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (!target.starts_with(scheme)) continue;
        target.remove_prefix(scheme.size());
        target.remove_prefix(std::min(target.find('/'), target.size()));
        break;
    }
    if (!target.starts_with('/') || target.find('#') != std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(target.find('?'), target.size());
    return TargetParts{target.substr(0, end), target.substr(std::min(end + 1, target.size()))};
}

} // namespace fathom::net
