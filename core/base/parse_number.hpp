#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace fathom {

/// The number in decimal that a text begins with, which is taken off its front. Empty: it begins with none, with a
/// space or a plus sign, or with a number that does not fit, and stays as it is; "inf" and "nan" are none.
template <class Number>
std::optional<Number> take_number(std::string_view& text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(number)) return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// The number that the whole of a text is, in decimal: nothing stands before or after it, no space and no plus sign.
/// Empty: the text is no number, or one that does not fit; "inf" and "nan" are none.
template <class Number>
std::optional<Number> parse_number(std::string_view text)
{
    const std::optional<Number> number = take_number<Number>(text);
    return text.empty() ? number : std::nullopt;
}

} // namespace fathom
