#include "simulator/report/report_markup.hpp"

#include "cli/text/display_text.hpp"
#include "core/base/escape_markup.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fathom::simulation {

std::string escaped(std::string_view text)
{
    return escape_markup(cli::printable(text));
}

std::string element(std::string_view opening, std::string_view text)
{
    return enclosed(opening, escaped(text));
}

std::string enclosed(std::string_view opening, std::string_view markup)
{
    return fmt::format("<{}>{}</{}>", opening, markup, opening.substr(0, opening.find(' ')));
}

std::string coordinate(double value)
{
    const double rounded = std::round(value * 10) / 10;
    return fmt::format("{:g}", rounded == 0 ? 0.0 : rounded); // no -0
}

} // namespace fathom::simulation
