#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace fathom {

/// The number that the whole of a text is, in decimal: nothing stands before or after it, no space and no plus sign.
/// Empty: the text is no number, or one that does not fit; "inf" and "nan" are none.
template <class Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(number)) return std::nullopt;
    }
    return number;
}

} // namespace fathom
