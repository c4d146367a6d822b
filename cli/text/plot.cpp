#include "cli/text/plot.hpp"

#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace fathom::cli {
namespace {

constexpr std::size_t kMinColumns = 16;
constexpr std::size_t kMaxWidth = 100;
constexpr std::size_t kUsualWidth = 72;

/// The same sign in both sets of characters.
struct Sign {
    const char* unicode;
    const char* ascii;

    std::string in(Charset charset) const { return charset == Charset::kUnicode ? unicode : ascii; }
};

constexpr Sign kBand{"░", ":"};
constexpr Sign kRule{"┆", "!"};
constexpr Sign kAxisLeft{"│", "|"};
constexpr Sign kTick{"┤", "+"};
constexpr Sign kCorner{"└", "+"};
constexpr Sign kAxisBelow{"─", "-"};

Sign sign_of(PlotMark mark)
{
    switch (mark) {
    case PlotMark::kDot:
        return {"●", "o"};
    case PlotMark::kLine:
        return {"·", "."};
    case PlotMark::kCross:
        return {"×", "x"};
    }
    return {"?", "?"};
}

std::string repeated(const std::string& text, std::size_t count)
{
    std::string all;
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

/// One axis: values to 0..1.
struct Axis {
    double from{};
    double to{};
    PlotScale scale = PlotScale::kLinear;

    double scaled(double value) const { return scale == PlotScale::kLogarithmic ? std::log(value) : value; }
    bool shows(double value) const { return std::isfinite(value) && (scale == PlotScale::kLinear || value > 0); }
    double share(double value) const { return (scaled(value) - scaled(from)) / (scaled(to) - scaled(from)); }
};

/// An axis over the values; empty when there is none. A single value gets room on both sides.
std::optional<Axis> axis_over(const std::vector<double>& values, PlotScale scale)
{
    Axis axis{0, 0, scale};
    bool has_any = false;
    for (const double value : values) {
        if (!axis.shows(value)) continue;
        axis.from = has_any ? std::min(axis.from, value) : value;
        axis.to = has_any ? std::max(axis.to, value) : value;
        has_any = true;
    }
    if (!has_any) return std::nullopt;
    if (axis.from == axis.to) {
        const double room = axis.from == 0 ? 1 : std::abs(axis.from) / 2;
        axis.from -= room;
        axis.to += room;
    }
    return axis;
}

std::vector<double> values_of(const Plot& plot, double PlotPoint::* part)
{
    std::vector<double> values;
    const auto add = [&](const std::vector<PlotPoint>& points) {
        for (const PlotPoint& point : points)
            values.push_back(point.*part);
    };
    for (const PlotSeries& series : plot.series)
        add(series.points);
    for (const PlotBand& band : plot.bands) {
        add(band.low);
        add(band.high);
    }
    return values;
}

/// The cells that points are drawn into, row 0 on top.
class Canvas {
  public:
    Canvas(Axis x, Axis y, std::size_t columns, std::size_t rows)
        : x_(x), y_(y), columns_(columns), rows_(rows), cells_(columns * rows, " ")
    {
    }

    std::size_t columns() const { return columns_; }
    std::size_t rows() const { return rows_; }
    const std::string& at(std::size_t row, std::size_t column) const { return cells_[row * columns_ + column]; }

    std::optional<std::size_t> column_of(double x) const { return cell_of(x_, x, columns_); }
    std::optional<std::size_t> row_of(double y) const
    {
        const auto from_below = cell_of(y_, y, rows_);
        if (!from_below) return std::nullopt;
        return rows_ - 1 - *from_below;
    }
    /// Like row_of, but what lies above or below the plot is drawn at its edge.
    std::size_t nearest_row(double y) const { return row_of(std::clamp(y, y_.from, y_.to)).value_or(0); }
    void put(std::size_t row, std::size_t column, const std::string& sign) { cells_[row * columns_ + column] = sign; }

    /// A joined series or edge of a band: its y in each column that it passes.
    std::vector<std::optional<double>> heights(std::vector<PlotPoint> points) const
    {
        std::erase_if(points, [&](const PlotPoint& p) { return !column_of(p.x) || !std::isfinite(p.y); });
        std::sort(points.begin(), points.end(),
                  [](const PlotPoint& a, const PlotPoint& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
        std::vector<std::optional<double>> heights(columns_);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::size_t from = *column_of(points[i].x);
            heights[from] = points[i].y;
            if (i + 1 == points.size()) break;
            const std::size_t to = *column_of(points[i + 1].x);
            for (std::size_t column = from + 1; column < to; ++column) {
                const double share = static_cast<double>(column - from) / static_cast<double>(to - from);
                heights[column] = points[i].y + share * (points[i + 1].y - points[i].y);
            }
        }
        return heights;
    }

  private:
    static std::optional<std::size_t> cell_of(const Axis& axis, double value, std::size_t cells)
    {
        if (!axis.shows(value)) return std::nullopt;
        const double share = axis.share(value);
        if (!(share >= -1e-9 && share <= 1 + 1e-9)) return std::nullopt;
        return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells - 1)));
    }

    Axis x_;
    Axis y_;
    std::size_t columns_;
    std::size_t rows_;
    std::vector<std::string> cells_;
};

void draw_band(Canvas& canvas, const PlotBand& band, Charset charset)
{
    const auto low = canvas.heights(band.low);
    const auto high = canvas.heights(band.high);
    for (std::size_t column = 0; column < canvas.columns(); ++column) {
        if (!low[column] || !high[column]) continue;
        const std::size_t bottom = canvas.nearest_row(*low[column]);
        for (std::size_t row = canvas.nearest_row(*high[column]); row <= bottom; ++row)
            canvas.put(row, column, kBand.in(charset));
    }
}

void draw_series(Canvas& canvas, const PlotSeries& series, Charset charset)
{
    const std::string sign = sign_of(series.mark).in(charset);
    if (series.is_joined) {
        const auto heights = canvas.heights(series.points);
        for (std::size_t column = 0; column < heights.size(); ++column) {
            const auto row = heights[column] ? canvas.row_of(*heights[column]) : std::nullopt;
            if (row) canvas.put(*row, column, sign);
        }
        return;
    }
    for (const PlotPoint& point : series.points) {
        const auto column = canvas.column_of(point.x);
        const auto row = canvas.row_of(point.y);
        if (column && row) canvas.put(*row, *column, sign);
    }
}

void draw(Canvas& canvas, const Plot& plot, Charset charset)
{
    for (const PlotBand& band : plot.bands)
        draw_band(canvas, band, charset);
    for (const PlotRule& rule : plot.rules) {
        const auto column = canvas.column_of(rule.x);
        for (std::size_t row = 0; column && row < canvas.rows(); ++row)
            canvas.put(row, *column, kRule.in(charset));
    }
    for (const bool joined : {true, false}) {
        for (const PlotSeries& series : plot.series) {
            if (series.is_joined == joined) draw_series(canvas, series, charset);
        }
    }
}

std::string legend(const Plot& plot, Charset charset)
{
    std::string text;
    const auto add = [&](const std::string& name, const Sign& sign) {
        if (!name.empty()) text += (text.empty() ? "" : "   ") + sign.in(charset) + " " + printable(name);
    };
    for (const PlotSeries& series : plot.series)
        add(series.name, sign_of(series.mark));
    for (const PlotBand& band : plot.bands)
        add(band.name, kBand);
    for (const PlotRule& rule : plot.rules)
        add(rule.name, kRule);
    return text;
}

/// Whole numbers as they are, others with three significant digits.
std::string format_axis(double value)
{
    const bool is_count = std::nearbyint(value) == value && std::abs(value) < 1e6;
    return is_count ? std::to_string(static_cast<long>(value)) : format_number(value);
}

std::string right_aligned(const std::string& text, std::size_t width)
{
    return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

/// `least ··· title ··· largest`, the title left out where there is no room.
std::string line_below(const std::string& left, const std::string& middle, const std::string& right, std::size_t width)
{
    const std::size_t ends = display_width(left) + display_width(right);
    if (ends + 1 > width) return left;
    const std::size_t room = width - ends;
    const std::size_t title = display_width(middle);
    if (title + 4 > room) return left + std::string(room, ' ') + right;
    const std::size_t before = (room - title) / 2;
    return left + std::string(before, ' ') + middle + std::string(room - title - before, ' ') + right;
}

/// Of the rows beside the vertical axis: the first, the middle and the last have one.
struct RowLabels {
    std::string top;
    std::string middle;
    std::string bottom;

    std::size_t width() const { return std::max({display_width(top), display_width(middle), display_width(bottom)}); }

    /// Null where a row has none.
    const std::string* of(std::size_t row, std::size_t rows) const
    {
        if (row == 0) return &top;
        if (row == rows / 2) return &middle;
        return row + 1 == rows ? &bottom : nullptr;
    }
};

RowLabels row_labels(const Axis& y, std::size_t rows, const std::function<std::string(double)>& format)
{
    const auto steps = static_cast<double>(rows - 1);
    return {.top = format(y.to),
            .middle = format(y.from + (y.to - y.from) * static_cast<double>(rows - 1 - rows / 2) / steps),
            .bottom = format(y.from)};
}

} // namespace

Charset charset_of(const Console& console)
{
    if (!console.environment) return Charset::kAscii;
    std::string locale;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        locale = console.environment(name);
        if (!locale.empty()) break;
    }
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool is_utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return is_utf8 ? Charset::kUnicode : Charset::kAscii;
}

std::string bar(double value, double most, std::size_t width, Charset charset)
{
    if (!(value > 0) || !(most > 0) || width == 0) return {};
    const std::size_t parts = charset == Charset::kUnicode ? 8 : 1;
    const double whole = static_cast<double>(width * parts);
    const auto filled = static_cast<std::size_t>(std::max(1L, std::lround(whole * std::min(value / most, 1.0))));
    if (charset == Charset::kAscii) return std::string(filled, '#');
    static constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    return repeated("█", filled / 8) + kParts.at(filled % 8);
}

std::string strip(std::span<const double> values, Charset charset)
{
    static constexpr std::array<const char*, 8> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static constexpr std::array<const char*, 8> kDensities{".", ":", "-", "=", "+", "*", "%", "#"};
    double most = 0;
    for (const double value : values)
        if (std::isfinite(value)) most = std::max(most, value);
    std::string text;
    for (const double value : values) {
        if (!std::isfinite(value)) {
            text += " ";
            continue;
        }
        const double share = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
        const auto level = static_cast<std::size_t>(std::lround(share * 7));
        text += charset == Charset::kUnicode ? kHeights.at(level) : kDensities.at(level);
    }
    return text;
}

PlotStyle plot_style(const Console& console)
{
    return {.width = console.width, .height = 12, .charset = charset_of(console)};
}

std::string line_plot(const Plot& plot, const PlotStyle& style)
{
    const std::optional<Axis> x = axis_over(values_of(plot, &PlotPoint::x), plot.x_scale);
    std::optional<Axis> y = axis_over(values_of(plot, &PlotPoint::y), PlotScale::kLinear);
    if (!x || !y) return {};
    y->from = plot.y_from.value_or(y->from);
    y->to = plot.y_to.value_or(y->to);
    if (!(y->from < y->to)) return {};

    const auto format_x = plot.format_x ? plot.format_x : format_axis;
    const std::size_t rows = std::max<std::size_t>(style.height, 3);
    const RowLabels labels = row_labels(*y, rows, plot.format_y ? plot.format_y : format_axis);
    const std::size_t width = std::min(style.width == 0 ? kUsualWidth : style.width, kMaxWidth);
    const std::size_t columns = std::max(width > labels.width() + 2 ? width - labels.width() - 2 : 0, kMinColumns);

    Canvas canvas(*x, *y, columns, rows);
    draw(canvas, plot, style.charset);
    std::string text = plot.y_title.empty() ? "" : printable(plot.y_title) + "\n";
    for (std::size_t row = 0; row < rows; ++row) {
        const std::string* const label = labels.of(row, rows);
        std::string line = right_aligned(label != nullptr ? *label : "", labels.width()) + " ";
        line += (label != nullptr ? kTick : kAxisLeft).in(style.charset);
        for (std::size_t column = 0; column < columns; ++column)
            line += canvas.at(row, column);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    const std::string margin(labels.width() + 1, ' ');
    text += margin + kCorner.in(style.charset) + repeated(kAxisBelow.in(style.charset), columns) + "\n";
    text += margin + " " + line_below(format_x(x->from), printable(plot.x_title), format_x(x->to), columns) + "\n";
    const std::string signs = legend(plot, style.charset);
    return signs.empty() ? text : text + margin + " " + signs + "\n";
}

} // namespace fathom::cli
