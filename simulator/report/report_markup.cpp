#include "simulator/report/report_markup.hpp"

#include "cli/text/display_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fathom::simulation {

std::string escaped(std::string_view text)
{
    std::string result;
    for (const char c : cli::printable(text)) {
        switch (c) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result += c;
        }
    }
    return result;
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
