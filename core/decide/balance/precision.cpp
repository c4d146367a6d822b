#include "core/decide/balance/precision.hpp"

#include "core/base/result.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace fathom {
namespace {

constexpr std::array<std::string_view, 5> kPrecisionNames{"int4", "int8", "fp16", "fp32", "fp64"};
constexpr std::array<int, 5> kPrecisionBits{4, 8, 16, 32, 64};

} // namespace

std::string_view to_string(Precision precision)
{
    return kPrecisionNames.at(static_cast<std::size_t>(precision));
}

std::optional<Precision> parse_precision(std::string_view text)
{
    const auto* const found = std::find(kPrecisionNames.begin(), kPrecisionNames.end(), text);
    if (found == kPrecisionNames.end()) return std::nullopt;
    return static_cast<Precision>(found - kPrecisionNames.begin());
}

int bits_of(Precision precision)
{
    return kPrecisionBits.at(static_cast<std::size_t>(precision));
}

Result<PrecisionRange> parse_precision_range(std::string_view text)
{
    const std::size_t dots = text.find("..");
    const std::optional<Precision> least = parse_precision(text.substr(0, dots));
    const std::optional<Precision> most =
        dots == std::string_view::npos ? least : parse_precision(text.substr(dots + 2));
    if (!least || !most)
        return Error{Errc::kInvalid, "a precision range is two of int4, int8, fp16, fp32, fp64 with .. between them"};
    if (*least > *most) return Error{Errc::kInvalid, "a precision range begins with the coarser one"};
    return PrecisionRange{*least, *most};
}

std::string to_string(const PrecisionRange& range)
{
    return std::string(to_string(range.least)) + ".." + std::string(to_string(range.most));
}

Precision step_precision(Precision present, int steps, const PrecisionRange& range)
{
    const int within = static_cast<int>(std::clamp(present, range.least, range.most));
    return static_cast<Precision>(
        std::clamp(within + steps, static_cast<int>(range.least), static_cast<int>(range.most)));
}

} // namespace fathom
