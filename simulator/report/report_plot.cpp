#include "simulator/report/report_plot.hpp"

#include "simulator/report/report_markup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::simulation {
namespace {

constexpr std::size_t kColors = 8;
constexpr std::size_t kDashes = 6;
constexpr std::size_t kFewPoints = 200;

/// Where the axes are, in units of the drawing.
struct Frame {
    double left{};
    double top{};
    double right{};
    double bottom{};

    double x(const Axis& axis, double value) const { return left + position_on(axis, value) * (right - left); }
    double y(const Axis& axis, double value) const { return bottom - position_on(axis, value) * (bottom - top); }
};

struct PlotLayout {
    DrawingWidth width{};
    double height{};
    Frame frame;
    std::size_t x_ticks{};
    std::size_t y_ticks{};
};

PlotLayout layout_of(DrawingWidth width)
{
    if (width == DrawingWidth::kWide) return {width, 330, {64, 30, 890, 282}, 9, 6};
    return {width, 280, {54, 30, 384, 232}, 5, 5};
}

std::string draw_bands(const LinePlot& plot, const Frame& frame)
{
    std::string result;
    for (const PlotBand& band : plot.bands) {
        const double from = std::clamp(frame.x(plot.x, band.from), frame.left, frame.right);
        const double to = std::clamp(frame.x(plot.x, band.to), frame.left, frame.right);
        if (!(to > from)) continue;
        result += fmt::format(R"(<rect class="band" x="{}" y="{}" width="{}" height="{}"/>)", coordinate(from),
                              coordinate(frame.top), coordinate(std::max(to - from, 0.5)),
                              coordinate(frame.bottom - frame.top));
    }
    return result;
}

std::string draw_axes(const LinePlot& plot, const PlotLayout& layout)
{
    const Frame& frame = layout.frame;
    std::string result;
    for (const AxisTick& tick : ticks_of(plot.y, layout.y_ticks)) {
        const double y = frame.y(plot.y, tick.value);
        result += svg_line(frame.left, y, frame.right, y, "grid");
        result += svg_text(frame.left - 7, y + 4, "tick end", tick.label);
    }
    for (const AxisTick& tick : ticks_of(plot.x, layout.x_ticks)) {
        const double x = frame.x(plot.x, tick.value);
        result += svg_line(x, frame.bottom, x, frame.bottom + 5, "axis");
        result += svg_text(x, frame.bottom + 19, "tick middle", tick.label);
    }
    for (const double at : plot.rules) {
        const double x = frame.x(plot.x, at);
        if (x > frame.left + 1 && x < frame.right - 1) result += svg_line(x, frame.top, x, frame.bottom, "rule");
    }
    result += svg_line(frame.left, frame.bottom, frame.right, frame.bottom, "axis");
    result += svg_text(frame.left - 54, frame.top - 14, "title", plot.y.title);
    result += svg_text((frame.left + frame.right) / 2, frame.bottom + 40, "title middle", plot.x.title);
    return result;
}

std::string draw_line(const LinePlot& plot, const PlotLine& line, const PlotLayout& layout)
{
    std::string coordinates;
    for (const PlotPoint& point : line.points) {
        if (!coordinates.empty()) coordinates += ' ';
        coordinates += coordinate(layout.frame.x(plot.x, point.x)) + "," + coordinate(layout.frame.y(plot.y, point.y));
    }
    return fmt::format(R"(<polyline class="line {}" data-name="{}" points="{}"/>)", line_classes(line.style),
                       escaped(line.name), coordinates);
}

/// All that the page's script needs to tell values from places in the drawing.
std::string script_attributes(const LinePlot& plot, const Frame& frame)
{
    const auto axis_attribute = [](std::string_view name, const Axis& axis, double from, double to) {
        return fmt::format(R"( data-{}="{} {} {} {} {} {}")", name, to_string(axis.scale), to_string(axis.unit),
                           axis.from, axis.to, coordinate(from), coordinate(to));
    };
    return fmt::format(R"( data-along="{}")", plot.reads_along_x ? "x" : "y") +
           axis_attribute("x", plot.x, frame.left, frame.right) + axis_attribute("y", plot.y, frame.bottom, frame.top);
}

std::string draw_one(const LinePlot& plot, DrawingWidth width)
{
    const PlotLayout layout = layout_of(width);
    std::string result =
        svg_opening(width, layout.height, script_attributes(plot, layout.frame), plot.title, plot.description);
    result += draw_bands(plot, layout.frame) + draw_axes(plot, layout);
    // The first one last, so that it lies above the others.
    for (auto line = plot.lines.rbegin(); line != plot.lines.rend(); ++line)
        result += draw_line(plot, *line, layout);
    return result + "</svg>\n";
}

} // namespace

double units_wide(DrawingWidth width)
{
    return width == DrawingWidth::kWide ? 900 : 390;
}

std::string svg_opening(DrawingWidth width, double height, const std::string& attributes, const std::string& title,
                        const std::string& description)
{
    return fmt::format(R"(<svg class="{}" viewBox="0 0 {} {}" role="img"{}>)",
                       width == DrawingWidth::kWide ? "wide" : "narrow", coordinate(units_wide(width)),
                       coordinate(height), attributes) +
           element("title", title) + element("desc", description);
}

std::string svg_text(double x, double y, const std::string& classes, const std::string& text)
{
    return element(fmt::format(R"(text class="{}" x="{}" y="{}")", classes, coordinate(x), coordinate(y)), text);
}

std::string svg_line(double x1, double y1, double x2, double y2, const std::string& classes)
{
    return fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>)", classes, coordinate(x1), coordinate(y1),
                       coordinate(x2), coordinate(y2));
}

std::string line_classes(std::size_t style)
{
    // From the ninth line on colours come back, with other dashes.
    return fmt::format("c{} d{}{}", style % kColors, (style + style / kColors) % kDashes, style == 0 ? " first" : "");
}

std::string draw(const LinePlot& plot)
{
    return draw_one(plot, DrawingWidth::kWide) + draw_one(plot, DrawingWidth::kNarrow);
}

std::string legend_of(const std::vector<PlotLine>& lines)
{
    std::string items;
    for (const PlotLine& line : lines) {
        const std::string sample = fmt::format(
            R"(<svg class="sample" viewBox="0 0 34 10" aria-hidden="true"><line class="line {}" x1="1" y1="5" x2="33" y2="5"/></svg>)",
            line_classes(line.style));
        items += enclosed("li", sample + escaped(line.name));
    }
    return enclosed("ul class=\"legend\"", items);
}

std::vector<PlotPoint> stepped(const std::vector<PlotPoint>& points)
{
    if (points.size() > kFewPoints) return points;
    std::vector<PlotPoint> result;
    for (const PlotPoint& point : points) {
        if (!result.empty()) result.push_back({point.x, result.back().y});
        result.push_back(point);
    }
    return result;
}

} // namespace fathom::simulation
