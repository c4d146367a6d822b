#pragma once

#include "simulator/report/report_axis.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::simulation {

struct PlotPoint {
    double x{};
    double y{};
};

struct PlotLine {
    std::string name;
    std::size_t style{}; ///< number of colour and dashes: of one policy everywhere the same
    std::vector<PlotPoint> points;
};

/// Shaded from one x to another.
struct PlotBand {
    double from{};
    double to{};
};

/// Curves with their axes.
struct LinePlot {
    std::string title;
    std::string description; ///< what it shows, in words, for who cannot see it
    Axis x;
    Axis y;
    std::vector<PlotBand> bands;
    std::vector<double> rules; ///< vertical lines, at x
    std::vector<PlotLine> lines;
    bool reads_along_x = true; ///< under the pointer are all curves' y of its x; else their x of its y
};

/// Drawings come in two widths, one for screens and paper and one for telephones: so text is of the same size on both.
/// Style sheets show one of them.
enum class DrawingWidth { kWide, kNarrow };

/// Units of the drawing from its left to its right.
double units_wide(DrawingWidth width);
std::string svg_opening(DrawingWidth width, double height, const std::string& attributes, const std::string& title,
                        const std::string& description);
std::string svg_text(double x, double y, const std::string& classes, const std::string& text);
std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes);

/// Classes of a curve, or of what stands for it.
std::string line_classes(std::size_t style);

/// The plot in both widths.
std::string draw(const LinePlot& plot);

/// Names of the lines with samples of how they are drawn, as a list.
std::string legend_of(const std::vector<PlotLine>& lines);

/// Of a quantity that stays as it is until the next point: with the corners of its steps, where points are few enough
/// for steps to be seen.
std::vector<PlotPoint> stepped(const std::vector<PlotPoint>& points);

} // namespace fathom::simulation
