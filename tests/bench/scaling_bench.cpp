// How well a scaling curve that was measured at a few counts predicts the others.
// Reads CSV with the columns platform … cores, metric, value (see tests/bench/scaling).
#include "core/decide/prediction/scaling.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <sstream>

namespace fathom {
namespace {

constexpr std::size_t kMinCounts = 12; ///< a shorter series has nothing left to predict

using Series = std::map<double, double>; ///< count -> rate

std::vector<std::string> split(std::string line)
{
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');)
        fields.push_back(field);
    return fields;
}

/// Series by name; metrics that end in _per_s are rates, all others are times.
std::map<std::string, Series> read_series(std::istream& input)
{
    std::map<std::string, Series> series;
    std::string line;
    std::getline(input, line);
    const std::vector<std::string> header = split(line);
    const auto column = [&](const std::string& name) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found == header.end()) throw std::runtime_error("the file has no column " + name);
        return static_cast<std::size_t>(found - header.begin());
    };
    const std::size_t cores = column("cores");
    const std::size_t metric = column("metric");
    const std::size_t value = column("value");
    while (std::getline(input, line)) {
        const std::vector<std::string> fields = split(line);
        if (fields.size() != header.size() || std::stod(fields[value]) <= 0) continue;
        std::string name;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i != cores && i != value) name += fields[i] + " ";
        }
        const double figure = std::stod(fields[value]);
        series[name][std::stod(fields[cores])] = fields[metric].ends_with("_per_s") ? figure : 1 / figure;
    }
    return series;
}

/// A curve as the server comes to it: from the counts that it asks a center for, and from one more where these leave
/// the curve open. Of counts that the file lacks nothing is known.
ScalingCurve measure(const std::string& name, const Series& series)
{
    const auto most = static_cast<std::int64_t>(series.rbegin()->first);
    std::vector<std::int64_t> counts = scaling_counts(most, kScalingCounts);
    std::vector<ScalingPoint> points;
    const auto add = [&](std::int64_t count) {
        const auto found = series.find(static_cast<double>(count));
        if (found != series.end()) points.push_back({found->first, found->second});
    };
    for (const std::int64_t count : counts)
        add(count);
    const auto fit = [&] {
        Result<ScalingCurve> curve = fit_scaling(points, ScalingMode::kStrong);
        if (!curve) throw std::runtime_error(name + ": " + describe(curve.error()));
        return std::move(*curve);
    };
    ScalingCurve curve = fit();
    const std::optional<std::int64_t> next = next_scaling_count(std::span(&curve, 1), most, counts);
    if (!next) return curve;
    add(*next);
    return fit();
}

/// Predictions of counts that were not measured.
struct HeldOut {
    std::vector<double> errors;
    std::vector<double> half_widths; ///< of the interval, as a share of the rate
    std::size_t inside{};
};

HeldOut predict_others(const ScalingCurve& curve, const Series& series)
{
    HeldOut held_out;
    for (const auto& [count, rate] : series) {
        const bool was_measured = std::any_of(curve.points.begin(), curve.points.end(),
                                              [n = count](const ScalingPoint& p) { return p.unit_count == n; });
        if (was_measured) continue;
        const RateEstimate estimate = curve.rate(count);
        held_out.errors.push_back(std::abs(estimate.rate / rate - 1));
        held_out.half_widths.push_back((estimate.high - estimate.low) / estimate.rate / 2);
        if (estimate.low <= rate && rate <= estimate.high) ++held_out.inside;
    }
    return held_out;
}

int run()
{
    HeldOut all;
    std::size_t series_count = 0;
    std::size_t point_count = 0;
    std::map<std::string, int> chosen;
    fmt::print("{:<62} {:>12} {:>7} {:>9} {:>7} {:>5}\n", "series", "model", "counts", "median", "inside", "knee");
    for (const auto& [name, series] : read_series(std::cin)) {
        if (series.size() < kMinCounts) continue;
        const ScalingCurve curve = measure(name, series);
        const HeldOut own = predict_others(curve, series);
        const std::string model(to_string(curve.models.front().fit.model));
        ++chosen[model];
        ++series_count;
        point_count += curve.points.size();
        fmt::print("{:<62} {:>12} {:>7} {:>7.1f} % {:>5.0f} % {:>5}\n", name, model, curve.points.size(),
                   100 * median(own.errors),
                   100.0 * static_cast<double>(own.inside) / static_cast<double>(own.errors.size()),
                   knee(curve, static_cast<std::int64_t>(series.rbegin()->first)));
        all.errors.insert(all.errors.end(), own.errors.begin(), own.errors.end());
        all.half_widths.insert(all.half_widths.end(), own.half_widths.begin(), own.half_widths.end());
        all.inside += own.inside;
    }
    if (all.errors.empty()) throw std::runtime_error("the file holds no series long enough");
    for (const auto& [model, times] : chosen)
        fmt::print("{} chosen {} times\n", model, times);
    fmt::print("RESULT heldout_median_error_pct {:.2f} %\n", 100 * median(all.errors));
    fmt::print("RESULT heldout_in_80pct_interval_pct {:.1f} %\n",
               100.0 * static_cast<double>(all.inside) / static_cast<double>(all.errors.size()));
    fmt::print("RESULT half_interval_median_pct {:.1f} %\n", 100 * median(all.half_widths));
    fmt::print("RESULT counts_measured_mean {:.2f} counts\n",
               static_cast<double>(point_count) / static_cast<double>(series_count));
    return 0;
}

} // namespace
} // namespace fathom

int main()
{
    try {
        return fathom::run();
    } catch (const std::exception& e) {
        fmt::print(stderr, "scaling_bench: {}\n", e.what());
        return 1;
    }
}
