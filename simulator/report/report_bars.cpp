#include "simulator/report/report_bars.hpp"

#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/report/report_curves.hpp"
#include "simulator/report/report_markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulation {
namespace {

struct Bar {
    std::string name;
    Confidence value;
    std::string text;
    bool is_reference = false;
};

struct BarsLayout {
    DrawingWidth width{};
    double left{};    ///< where bars begin
    double right{};   ///< where the longest ends
    double row{};     ///< height of a row
    double bar_top{}; ///< in its row
    double text_at{}; ///< base line in its row, of the policy's name
    std::size_t ticks{};
};

constexpr std::size_t kMaxNameLength = 30;
constexpr double kMaxOfShortest = 25; ///< what is longer is not drawn in full
constexpr double kBarHeight = 18;
constexpr double kCharacter = 7.3; ///< width of one, about

BarsLayout layout_of(DrawingWidth width, std::size_t longest_name)
{
    if (width == DrawingWidth::kNarrow) return {width, 8, 376, 46, 20, 13, 4};
    // Names to the left, what bars stand for to the right of them.
    const double left = std::min(24 + kCharacter * static_cast<double>(longest_name), 290.0);
    return {width, left, 680, 30, 6, 20, 6};
}

std::string draw_row(const Bar& bar, std::size_t index, const Axis& axis, const BarsLayout& layout)
{
    const auto x = [&](double value) {
        return layout.left + std::clamp(position_on(axis, value), 0.0, 1.0) * (layout.right - layout.left);
    };
    const double top = layout.row * static_cast<double>(index) + layout.bar_top;
    const double base = layout.row * static_cast<double>(index) + layout.text_at;
    const double end = std::isfinite(bar.value.mean) ? x(bar.value.mean) : layout.left;
    const double most = std::isfinite(bar.value.half_width) ? x(bar.value.mean + bar.value.half_width) : end;
    const bool is_wide = layout.width == DrawingWidth::kWide;
    std::string result =
        is_wide ? svg_text(layout.left - 8, base, "name end", bar.name) : svg_text(layout.left, base, "name", bar.name);
    result += fmt::format(R"(<rect class="bar c{}{}" x="{}" y="{}" width="{}" height="{}"/>)", index % 8,
                          bar.is_reference ? " reference" : "", coordinate(layout.left), coordinate(top),
                          coordinate(std::max(end - layout.left, 1.0)), coordinate(kBarHeight));
    if (bar.value.mean > axis.to) {
        result +=
            fmt::format(R"(<polygon class="gap" points="{0},{2} {1},{2} {3},{4} {5},{4}"/>)",
                        coordinate(layout.right - 40), coordinate(layout.right - 34), coordinate(top),
                        coordinate(layout.right - 40), coordinate(top + kBarHeight), coordinate(layout.right - 46));
    } else if (std::isfinite(bar.value.half_width)) {
        const double low = x(bar.value.mean - bar.value.half_width);
        const double middle = top + kBarHeight / 2;
        result += svg_line(low, middle, most, middle, "whisker") +
                  svg_line(low, middle - 4, low, middle + 4, "whisker") +
                  svg_line(most, middle - 4, most, middle + 4, "whisker");
    }
    return result + (is_wide ? svg_text(most + 8, base, "value", bar.text)
                             : svg_text(layout.right, base, "value end", bar.text));
}

double end_of(const Bar& bar)
{
    if (!std::isfinite(bar.value.mean)) return 0;
    return bar.value.mean + (std::isfinite(bar.value.half_width) ? bar.value.half_width : 0);
}

/// As long as the longest bar, unless that would make most of them invisible: then as the longest of the others.
Axis axis_of(const std::vector<Bar>& bars)
{
    double shortest = std::numeric_limits<double>::infinity();
    for (const Bar& bar : bars) {
        if (bar.value.mean > 0) shortest = std::min(shortest, bar.value.mean);
    }
    Axis axis{"", AxisScale::kLinear, AxisUnit::kDuration, 0, 0};
    for (const Bar& bar : bars) {
        if (bar.value.mean <= kMaxOfShortest * shortest) axis.to = std::max(axis.to, end_of(bar));
    }
    if (!(axis.to > 0)) axis.to = 1;
    return axis;
}

std::string draw_bars(const std::vector<Bar>& bars, const Axis& axis, const std::string& title,
                      const std::string& description, DrawingWidth width)
{
    std::size_t longest = 0;
    for (const Bar& bar : bars)
        longest = std::max(longest, cli::display_width(bar.name));
    const BarsLayout layout = layout_of(width, longest);
    const double bottom = layout.row * static_cast<double>(bars.size()) + 4;
    std::string result = svg_opening(width, bottom + 26, "", title, description);
    for (const AxisTick& tick : ticks_of(axis, layout.ticks)) {
        const double x = layout.left + position_on(axis, tick.value) * (layout.right - layout.left);
        result += svg_line(x, 0, x, bottom, "grid") + svg_text(x, bottom + 17, "tick middle", tick.label);
    }
    for (std::size_t i = 0; i < bars.size(); ++i)
        result += draw_row(bars[i], i, axis, layout);
    return result + svg_line(layout.left, 0, layout.left, bottom, "axis") + "</svg>\n";
}

} // namespace

std::string completion_bars(std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    std::vector<Bar> bars;
    double best = std::numeric_limits<double>::infinity();
    for (const PolicyGroup& policy : policies) {
        bars.push_back({cli::shortened(cli::printable(policy.name), kMaxNameLength),
                        over_seeds(policy, FigureId::kMeanCompletion,
                                   [](const PolicyRun& run) -> const Figures& { return run.all; }),
                        {},
                        policy.is_reference});
        if (policy.is_partial) bars.back().name += fmt::format(" ({})", texts.partial_mark);
        if (!policy.is_reference && std::isfinite(bars.back().value.mean))
            best = std::min(best, bars.back().value.mean);
    }
    std::string description;
    for (Bar& bar : bars) {
        bar.text = shown(FigureId::kMeanCompletion, bar.value.mean, {});
        if (bar.value.mean != best && best > 0 && std::isfinite(best))
            bar.text +=
                " · " + fmt::format(fmt::runtime(texts.bars_of_best), cli::format_number(bar.value.mean / best));
        description += fmt::format("{}: {}. ", bar.name, bar.text);
    }
    const std::string title(texts.bars_title);
    const Axis axis = axis_of(bars);
    std::string note(texts.bars_note);
    if (std::any_of(bars.begin(), bars.end(), [&](const Bar& bar) { return bar.value.mean > axis.to; }))
        note += " " + std::string(texts.bars_cut);
    return figure_of(title, "",
                     draw_bars(bars, axis, title, description, DrawingWidth::kWide) +
                         draw_bars(bars, axis, title, description, DrawingWidth::kNarrow),
                     note);
}

} // namespace fathom::simulation
