#include "server/outputs/byte_range.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// A whole number of digits alone; empty: it is none, or too large.
std::optional<std::int64_t> digits_of(std::string_view text)
{
    return text.starts_with('-') ? std::nullopt : parse_number<std::int64_t>(text);
}

AskedRange last_bytes(std::optional<std::int64_t> count, std::int64_t size_bytes)
{
    if (!count) return {};
    if (*count == 0 || size_bytes == 0) return {.kind = AskedRange::Kind::kNone};
    const std::int64_t size = std::min(*count, size_bytes);
    return {.kind = AskedRange::Kind::kPart, .part = {.first = size_bytes - size, .size = size}};
}

} // namespace

AskedRange parse_byte_range(std::string_view header, std::int64_t size_bytes)
{
    constexpr std::string_view kUnit = "bytes=";
    if (!header.starts_with(kUnit)) return {};
    header.remove_prefix(kUnit.size());
    const std::size_t dash = header.find('-');
    if (dash == std::string_view::npos) return {};
    const std::string_view behind = header.substr(dash + 1);
    if (dash == 0) return last_bytes(digits_of(behind), size_bytes);
    const std::optional<std::int64_t> first = digits_of(header.substr(0, dash));
    const std::optional<std::int64_t> last = behind.empty() ? std::optional(size_bytes - 1) : digits_of(behind);
    const bool is_range = first && last && (behind.empty() || *last >= *first);
    if (!is_range) return {};
    if (*first >= size_bytes) return {.kind = AskedRange::Kind::kNone};
    return {.kind = AskedRange::Kind::kPart,
            .part = {.first = *first, .size = std::min(*last, size_bytes - 1) - *first + 1}};
}

} // namespace fathom::server
