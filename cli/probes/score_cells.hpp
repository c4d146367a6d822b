#pragma once

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

/// What tables of scores have in common.
namespace fathom::cli {

inline constexpr std::size_t kScoreBarWidth = 12;

inline std::string format_member(const Json& json, std::string_view name, std::string (*format)(double))
{
    const std::optional<double> value = number_of(json, name);
    return value ? format(*value) : "-";
}

/// A rate of zero means that the operator is not counted in that unit.
inline std::string rate_of(const Json& json, std::string_view name, std::string (*format)(double))
{
    return number_of(json, name).value_or(0) > 0 ? format_member(json, name, format) : "-";
}

/// The error of a measurement against the truth; bad where it is beyond what the operator tolerates.
inline Cell error_cell(const Json& score)
{
    const std::string text = format_member(score, "error", format_error);
    const std::optional<double> tolerance = number_of(score, "tolerance");
    const bool wrong = tolerance && number_of(score, "error").value_or(0) > *tolerance;
    return wrong ? Cell(text + " !", Tone::kBad) : Cell(text);
}

} // namespace fathom::cli
