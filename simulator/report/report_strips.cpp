#include "simulator/report/report_strips.hpp"

#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "simulator/report/report_curves.hpp"
#include "simulator/report/report_markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxStrips = 12;
constexpr std::size_t kMaxPoints = 400;
constexpr std::size_t kMaxStripNameLength = 28;
constexpr double kLittle = 0.02; ///< share of units below which hardly any are in use

/// The units of one center, or of several that are shown together.
struct Strip {
    std::string name;
    std::vector<std::size_t> centers;
    double units = 0;
    std::vector<PlotPoint> busy; ///< share of them
    double mean = 0;             ///< utilization
    std::vector<PlotBand> closures;
};

/// Centers with most units each for themselves, the others together.
std::vector<Strip> strips_of(const Network& network, const ReportTexts& texts)
{
    std::vector<Strip> strips(network.centers.size());
    for (std::size_t i = 0; i < network.centers.size(); ++i) {
        strips[i].name = cli::shortened(cli::printable(network.centers[i].name), kMaxStripNameLength);
        strips[i].centers = {i};
    }
    for (const UnitType& type : network.unit_types)
        strips[type.center].units += static_cast<double>(type.unit_count);
    if (strips.size() <= kMaxStrips) return strips;

    std::sort(strips.begin(), strips.end(), [](const Strip& a, const Strip& b) {
        return a.units != b.units ? a.units > b.units : a.centers < b.centers;
    });
    Strip others;
    for (auto strip = strips.begin() + kMaxStrips - 1; strip != strips.end(); ++strip) {
        others.units += strip->units;
        others.centers.push_back(strip->centers.front());
    }
    others.name = fmt::format(fmt::runtime(texts.units_others), others.centers.size());
    strips.resize(kMaxStrips - 1);
    strips.push_back(std::move(others));
    return strips;
}

bool is_at(const UnitType& type, const Strip& strip)
{
    return std::find(strip.centers.begin(), strip.centers.end(), type.center) != strip.centers.end();
}

/// Means over neighbours, so that many points become few.
std::vector<PlotPoint> busy_curve(const Strip& strip, const Network& network, const std::vector<SeriesPoint>& series)
{
    std::vector<std::size_t> types;
    for (std::size_t type = 0; type < network.unit_types.size(); ++type) {
        if (is_at(network.unit_types[type], strip)) types.push_back(type);
    }
    const std::size_t together = (series.size() + kMaxPoints - 1) / kMaxPoints;
    std::vector<PlotPoint> points;
    for (std::size_t begin = 0; begin < series.size(); begin += together) {
        const std::size_t end = std::min(begin + together, series.size());
        std::int64_t busy = 0;
        for (std::size_t i = begin; i < end; ++i) {
            for (const std::size_t type : types)
                busy += series[i].busy_units[type];
        }
        const double mean = static_cast<double>(busy) / static_cast<double>(end - begin);
        points.push_back({series[begin].at_s, strip.units > 0 ? mean / strip.units : 0});
    }
    return stepped(points);
}

/// What still runs long after nearly all has ended would make the rest hard to see.
void end_when_little_runs(std::vector<Strip>& strips, Axis& time)
{
    double last = time.from;
    for (const Strip& strip : strips) {
        for (std::size_t i = 0; i < strip.busy.size(); ++i) {
            if (strip.busy[i].y > kLittle) last = std::max(last, strip.busy[std::min(i + 1, strip.busy.size() - 1)].x);
        }
    }
    if (last > time.from) time.to = last;
    for (Strip& strip : strips)
        std::erase_if(strip.busy, [&](const PlotPoint& point) { return point.x > time.to; });
    if (!(time.to > time.from)) time.to = time.from + 1;
}

/// While counted jobs came, of units in order: as Figures::utilization.
double utilization_of(const Strip& strip, const Network& network, const SimulationResult& result)
{
    double busy_unit_s = 0;
    double unit_s = 0;
    for (std::size_t type = 0; type < network.unit_types.size(); ++type) {
        if (!is_at(network.unit_types[type], strip)) continue;
        busy_unit_s += result.busy_unit_s[type];
        unit_s +=
            static_cast<double>(network.unit_types[type].unit_count) * (result.counted_to_s - result.counted_from_s) -
            result.broken_unit_s[type];
    }
    return unit_s > 0 ? busy_unit_s / unit_s : 0;
}

struct StripsLayout {
    DrawingWidth width{};
    double left{};
    double right{};
    std::size_t ticks{};
};

constexpr double kRow = 66;
constexpr double kTextAt = 15;
constexpr double kStripTop = 23;
constexpr double kStripHeight = 34;

std::string draw_strip(const Strip& strip, std::size_t index, const Axis& time, const StripsLayout& layout,
                       const ReportTexts& texts)
{
    const double top = kRow * static_cast<double>(index) + kStripTop;
    const double bottom = top + kStripHeight;
    const auto x = [&](double at) {
        return layout.left + std::clamp(position_on(time, at), 0.0, 1.0) * (layout.right - layout.left);
    };
    std::string result =
        svg_text(layout.left, top - kStripTop + kTextAt, "name",
                 fmt::format(fmt::runtime(texts.units_row), strip.name, cli::format_count(std::llround(strip.units)),
                             cli::format_percent(strip.mean)));
    result += fmt::format(R"(<rect class="strip" x="{}" y="{}" width="{}" height="{}"/>)", coordinate(layout.left),
                          coordinate(top), coordinate(layout.right - layout.left), coordinate(kStripHeight));
    for (const PlotBand& band : strip.closures)
        result += fmt::format(R"(<rect class="band" x="{}" y="{}" width="{}" height="{}"/>)", coordinate(x(band.from)),
                              coordinate(top), coordinate(std::max(x(band.to) - x(band.from), 0.5)),
                              coordinate(kStripHeight));
    const std::vector<PlotPoint>& points = strip.busy;
    if (points.empty()) return result;
    std::string area = fmt::format("{},{}", coordinate(x(points.front().x)), coordinate(bottom));
    for (const PlotPoint& point : points)
        area += fmt::format(" {},{}", coordinate(x(point.x)),
                            coordinate(bottom - std::clamp(point.y, 0.0, 1.0) * kStripHeight));
    area += fmt::format(" {},{}", coordinate(x(points.back().x)), coordinate(bottom));
    return result + fmt::format(R"(<polygon class="area" points="{}"/>)", area) +
           svg_line(layout.left, bottom, layout.right, bottom, "axis");
}

std::string draw_strips(const std::vector<Strip>& strips, const Axis& time, const std::string& title,
                        const StripsLayout& layout, const ReportTexts& texts)
{
    std::string description;
    for (const Strip& strip : strips)
        description += fmt::format("{}: {}. ", strip.name, cli::format_percent(strip.mean));
    const double bottom = kRow * static_cast<double>(strips.size());
    std::string result = svg_opening(layout.width, bottom + 44, "", title, description);
    for (std::size_t i = 0; i < strips.size(); ++i)
        result += draw_strip(strips[i], i, time, layout, texts);
    for (const AxisTick& tick : ticks_of(time, layout.ticks)) {
        const double x = layout.left + position_on(time, tick.value) * (layout.right - layout.left);
        result += svg_line(x, kStripTop, x, bottom, "grid over") + svg_text(x, bottom + 14, "tick middle", tick.label);
    }
    return result + svg_text((layout.left + layout.right) / 2, bottom + 35, "title middle", time.title) + "</svg>\n";
}

} // namespace

std::string unit_strips(const Scenario& scenario, const PolicyGroup& policy, const ReportTexts& texts)
{
    const std::vector<SeriesPoint>& series = policy.runs.front()->result.series;
    if (series.empty()) return {};
    Axis time{std::string(texts.time_axis), AxisScale::kLinear, AxisUnit::kDuration, series.front().at_s,
              series.back().at_s};
    std::vector<Strip> strips = strips_of(scenario.network, texts);
    for (Strip& strip : strips)
        strip.busy = busy_curve(strip, scenario.network, series);
    end_when_little_runs(strips, time);
    for (Strip& strip : strips) {
        strip.mean = utilization_of(strip, scenario.network, policy.runs.front()->result);
        if (strip.centers.size() == 1)
            strip.closures = closures_between(scenario.network, strip.centers.front(), time.from, time.to);
    }
    const std::string title = fmt::format(fmt::runtime(texts.units_title), policy.name);
    return figure_of(title, "",
                     draw_strips(strips, time, title, {DrawingWidth::kWide, 10, 890, 9}, texts) +
                         draw_strips(strips, time, title, {DrawingWidth::kNarrow, 6, 384, 5}, texts),
                     texts.units_note);
}

} // namespace fathom::simulation
