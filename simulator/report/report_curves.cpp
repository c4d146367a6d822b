#include "simulator/report/report_curves.hpp"

#include "cli/text/format_units.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "simulator/figures/job_figures.hpp"
#include "simulator/report/report_markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxSeriesPoints = 500;
constexpr std::size_t kMaxCurvePoints = 300;
constexpr std::size_t kMaxSampledJobs = 200'000;
constexpr double kMaxRange = 1e6;        ///< of a logarithmic axis
constexpr double kVeryUnlikeQueues = 20; ///< beyond this factor a linear axis shows the longest one only
constexpr std::size_t kMaxClosures = 200;
constexpr double kMargin = 1.04;     ///< of the time shown
constexpr double kMuchLonger = 3;    ///< than most policies' queues: cut
constexpr double kMinPlotted = 1e-3; ///< logarithmic axes have no 0

/// Of neighbours the one with most that wait stands for them, so that no peak is lost.
std::vector<PlotPoint> waiting_curve(const std::vector<SeriesPoint>& series)
{
    const std::size_t together = (series.size() + kMaxSeriesPoints - 1) / kMaxSeriesPoints;
    std::vector<PlotPoint> points;
    for (std::size_t begin = 0; begin < series.size(); begin += together) {
        const auto end = series.begin() + static_cast<std::ptrdiff_t>(std::min(begin + together, series.size()));
        const auto most = std::max_element(
            series.begin() + static_cast<std::ptrdiff_t>(begin), end,
            [](const SeriesPoint& a, const SeriesPoint& b) { return a.waiting_jobs < b.waiting_jobs; });
        points.push_back({most->at_s, static_cast<double>(most->waiting_jobs)});
    }
    return stepped(points);
}

double highest(const std::vector<PlotPoint>& points)
{
    double most = 0;
    for (const PlotPoint& point : points)
        most = std::max(most, point.y);
    return most;
}

/// When the last job of the curve has started; where the curve begins if none waits.
double last_waiting_s(const PlotLine& line)
{
    double last = line.points.front().x;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
        if (line.points[i].y > 0) last = line.points[std::min(i + 1, line.points.size() - 1)].x;
    }
    return last;
}

/// Jobs may run on long after the last one has started, which is no part of the queue, and one bad policy may take many
/// times as long as all others, which would hide what happens with these. Ends the plot before.
/// @return the lines that go on, by name, with commas.
std::string end_when_most_are_done(LinePlot& plot)
{
    std::vector<double> lasts;
    lasts.reserve(plot.lines.size());
    for (const PlotLine& line : plot.lines)
        lasts.push_back(last_waiting_s(line) - plot.x.from);
    const double most_s = *std::max_element(lasts.begin(), lasts.end());
    const double shown_s = std::min(most_s, kMuchLonger * median(lasts)) * kMargin;
    if (shown_s > 0) plot.x.to = std::min(plot.x.to, plot.x.from + shown_s);
    std::string names;
    for (std::size_t i = 0; i < plot.lines.size(); ++i) {
        PlotLine& line = plot.lines[i];
        if (shown_s > 0 && lasts[i] > shown_s) names += (names.empty() ? "" : ", ") + line.name;
        std::erase_if(line.points, [&](const PlotPoint& point) { return point.x > plot.x.to; });
    }
    if (!(plot.x.to > plot.x.from)) plot.x.to = plot.x.from + 1;
    return names;
}

/// Linear, unless the longest queue would hide all that happens in the shortest.
Axis queue_axis(const std::vector<PlotLine>& lines, const ReportTexts& texts)
{
    double most = 1;
    double least_peak = std::numeric_limits<double>::infinity();
    for (const PlotLine& line : lines) {
        most = std::max(most, highest(line.points));
        least_peak = std::min(least_peak, std::max(highest(line.points), 1.0));
    }
    Axis axis{std::string(texts.queue_axis), AxisScale::kLinear, AxisUnit::kCount, 0, most};
    if (most > kVeryUnlikeQueues * least_peak) {
        axis.scale = AxisScale::kLogarithmicFrom0;
        axis.title = fmt::format(fmt::runtime(texts.logarithmic), axis.title);
    } else {
        round_up(axis, 6);
    }
    return axis;
}

/// Share of values up to each, from all values of a policy's runs.
std::vector<PlotPoint> distribution_curve(std::vector<double> values, double least)
{
    std::sort(values.begin(), values.end());
    std::vector<PlotPoint> points;
    const std::size_t count = std::min(values.size(), kMaxCurvePoints);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = count > 1 ? i * (values.size() - 1) / (count - 1) : 0;
        points.push_back(
            {std::max(values[at], least), static_cast<double>(at + 1) / static_cast<double>(values.size())});
    }
    return stepped(points);
}

struct JobSamples {
    std::vector<double> completions;
    std::vector<double> slowdowns;
};

/// Of the jobs that ended; evenly taken where there are very many.
JobSamples samples_of(const Workload& workload, const PolicyGroup& policy, JobFigurer& figurer)
{
    JobSamples samples;
    const std::size_t jobs = (workload.end_counted - workload.first_counted) * policy.runs.size();
    const std::size_t step = std::max<std::size_t>(jobs / kMaxSampledJobs, 1);
    for (const PolicyRun* const run : policy.runs) {
        for (std::size_t i = workload.first_counted; i < workload.end_counted; i += step) {
            const JobOutcome& outcome = run->result.jobs[i];
            if (outcome.state != JobState::kEnded) continue;
            const JobFigures figures = figurer.of(workload.jobs[i], outcome);
            samples.completions.push_back(figures.completion_s);
            samples.slowdowns.push_back(figures.slowdown);
        }
    }
    return samples;
}

Axis logarithmic_axis(const std::vector<PlotLine>& lines, std::string_view title, AxisUnit unit)
{
    Axis axis{std::string(title), AxisScale::kLogarithmic, unit, std::numeric_limits<double>::infinity(), 0};
    for (const PlotLine& line : lines) {
        if (line.points.empty()) continue;
        axis.from = std::min(axis.from, line.points.front().x);
        axis.to = std::max(axis.to, line.points.back().x);
    }
    if (!(axis.to > 0)) return {axis.title, axis.scale, axis.unit, 1, 10};
    axis.from = std::max(axis.from, axis.to / kMaxRange);
    if (axis.to < axis.from * 2) axis.to = axis.from * 2;
    return axis;
}

std::string distribution_plot(std::vector<PlotLine> lines, std::string_view title, std::string_view axis_title,
                              AxisUnit unit, const ReportTexts& texts)
{
    LinePlot plot;
    plot.title = title;
    plot.x = logarithmic_axis(lines, axis_title, unit);
    plot.y = {std::string(texts.share_axis), AxisScale::kLinear, AxisUnit::kShare, 0, 1};
    plot.reads_along_x = false;
    for (PlotLine& line : lines) {
        std::erase_if(line.points, [&](const PlotPoint& point) { return point.x < plot.x.from; });
        if (!line.points.empty()) {
            const double middle = line.points[line.points.size() / 2].x;
            plot.description +=
                fmt::format("{}: 50 % ≤ {}. ", line.name,
                            unit == AxisUnit::kDuration ? cli::format_duration(middle) : cli::format_number(middle));
        }
    }
    plot.lines = std::move(lines);
    return figure_of(plot.title, legend_of(plot.lines), draw(plot), texts.distribution_note);
}

} // namespace

std::string queue_plot(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    LinePlot plot;
    plot.title = texts.queue_title;
    plot.x = {std::string(texts.time_axis), AxisScale::kLinear, AxisUnit::kDuration,
              std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < policies.size(); ++i) {
        const SimulationResult& result = policies[i].runs.front()->result;
        if (result.series.empty()) continue;
        plot.lines.push_back({policies[i].name, i, waiting_curve(result.series)});
        plot.x.from = std::min(plot.x.from, result.series.front().at_s);
        plot.x.to = std::max(plot.x.to, result.series.back().at_s);
        plot.description += fmt::format("{}: ≤ {}. ", policies[i].name,
                                        cli::format_count(std::llround(highest(plot.lines.back().points))));
    }
    if (plot.lines.empty()) return {};
    const std::string going_on = end_when_most_are_done(plot);
    plot.y = queue_axis(plot.lines, texts);
    plot.bands = closures_between(scenario.network, std::nullopt, plot.x.from, plot.x.to);
    std::string legend = legend_of(plot.lines);
    std::string keys;
    if (!plot.bands.empty())
        keys += enclosed("li", "<span class=\"sample band-sample\"></span>" + escaped(texts.maintenance));
    const Workload& workload = scenario.workload;
    if (workload.first_counted > 0 || workload.end_counted < workload.jobs.size()) {
        const SimulationResult& first = policies.front().runs.front()->result;
        plot.rules = {first.counted_from_s, first.counted_to_s};
        keys += enclosed("li", "<span class=\"sample rule-sample\"></span>" + escaped(texts.counted_window));
    }
    if (!keys.empty()) legend += enclosed("ul class=\"legend\"", keys);
    std::string note(texts.queue_note);
    if (!going_on.empty()) note += " " + fmt::format(fmt::runtime(texts.queue_cut), going_on);
    return figure_of(plot.title, legend, draw(plot), note);
}

std::string distribution_plots(const Scenario& scenario, std::span<const PolicyGroup> policies,
                               const ReportTexts& texts)
{
    JobFigurer figurer(scenario);
    std::vector<PlotLine> completion;
    std::vector<PlotLine> slowdown;
    for (std::size_t i = 0; i < policies.size(); ++i) {
        JobSamples samples = samples_of(scenario.workload, policies[i], figurer);
        completion.push_back({policies[i].name, i, distribution_curve(std::move(samples.completions), kMinPlotted)});
        slowdown.push_back({policies[i].name, i, distribution_curve(std::move(samples.slowdowns), kMinPlotted)});
    }
    return distribution_plot(std::move(completion), texts.completion_title, texts.completion_axis, AxisUnit::kDuration,
                             texts) +
           distribution_plot(std::move(slowdown), texts.slowdown_title, texts.slowdown_axis, AxisUnit::kFactor, texts);
}

std::string figure_of(const std::string& title, const std::string& legend, const std::string& drawing,
                      std::string_view note)
{
    return enclosed("figure", enclosed("figcaption", element("h3", title) + element("p", note)) + legend + drawing);
}

std::vector<PlotBand> closures_between(const Network& network, std::optional<std::size_t> center, double from_s,
                                       double to_s)
{
    std::vector<PlotBand> closures;
    for (std::size_t i = 0; i < network.centers.size(); ++i) {
        if (center && i != *center) continue;
        for (const Closure& closure : network.centers[i].closures) {
            if (closure.to_s > from_s && closure.from_s < to_s)
                closures.push_back({std::max(closure.from_s, from_s), std::min(closure.to_s, to_s)});
        }
    }
    std::sort(closures.begin(), closures.end(), [](const PlotBand& a, const PlotBand& b) { return a.from < b.from; });
    std::vector<PlotBand> joined;
    for (const PlotBand& closure : closures) {
        if (!joined.empty() && closure.from <= joined.back().to)
            joined.back().to = std::max(joined.back().to, closure.to);
        else if (joined.size() < kMaxClosures)
            joined.push_back(closure);
    }
    return joined;
}

} // namespace fathom::simulation
