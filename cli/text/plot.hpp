#pragma once

#include "cli/text/console.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom::cli {

// Small drawings of characters: bars, strips and plots. They use no colour, fit the width that they are given, and
// leave out values that are not finite.

/// What the reader's terminal can show.
enum class Charset { kAscii, kUnicode };

/// Unicode where the locale (LC_ALL, else LC_CTYPE, else LANG) says UTF-8.
Charset charset_of(const Console& console);

/// A horizontal bar, `width` columns for `most`: in eighths of a column, or of whole `#`. Empty for values that are
/// not positive; what is positive shows at least its smallest part, and what is larger than `most` fills the width.
std::string bar(double value, double most, std::size_t width, Charset charset);

/// One column for each value, its height (in ASCII its density) by where it lies between 0 and the largest; a blank
/// where the value is not finite.
std::string strip(std::span<const double> values, Charset charset);

struct PlotPoint {
    double x{};
    double y{};
};

enum class PlotMark {
    kDot,   ///< ● or o: what was measured
    kLine,  ///< · or .: a function
    kCross, ///< × or x
};

struct PlotSeries {
    std::string name; ///< for the legend; empty: not in it
    PlotMark mark = PlotMark::kDot;
    std::vector<PlotPoint> points;
    bool is_joined = false; ///< every column between two neighbours is filled, by straight lines on the plot's scales
};

/// What lies between two functions, such as an interval.
struct PlotBand {
    std::string name;
    std::vector<PlotPoint> low;
    std::vector<PlotPoint> high;
};

/// A vertical line.
struct PlotRule {
    std::string name;
    double x{};
};

enum class PlotScale { kLinear, kLogarithmic };

/// What is to be drawn: bands first, then rules, joined series, and single points, so that no function hides what was
/// measured; equals in their order.
struct Plot {
    std::vector<PlotSeries> series;
    std::vector<PlotBand> bands;
    std::vector<PlotRule> rules;
    std::string x_title;
    std::string y_title;
    PlotScale x_scale = PlotScale::kLinear;      ///< points whose x is not positive are left out of a logarithmic one
    std::optional<double> y_from;                ///< else the least value
    std::optional<double> y_to;                  ///< else the largest
    std::function<std::string(double)> format_x; ///< else whole numbers, or three significant digits
    std::function<std::string(double)> format_y;
};

struct PlotStyle {
    std::size_t width = 0;   ///< columns of the terminal, 0: not known (72 are used); at most 100 are used
    std::size_t height = 12; ///< rows of the plot itself
    Charset charset = Charset::kAscii;
};

/// The style that fits the console.
PlotStyle plot_style(const Console& console);

/// Axes with their least and largest values, the points, and a legend; lines with line ends. Empty without a point
/// that can be drawn. A width that leaves less than 16 columns for the points is widened to that.
std::string line_plot(const Plot& plot, const PlotStyle& style);

} // namespace fathom::cli
