// How well a scaling curve that was measured at a few counts predicts the others.
// Reads CSV with the columns platform … cores, metric, value (see tests/bench/scaling).
#include "core/decide/sample_statistics.hpp"
#include "core/decide/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

namespace fathom {
namespace {

constexpr std::size_t kMeasured = 7;     ///< counts that a center would be asked for
constexpr std::size_t kLeastCounts = 12; ///< a shorter series has nothing left to predict

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

/// The counts of a center's catalog nearest to those that would be asked for.
std::vector<ScalingPoint> measured_points(const Series& series)
{
    std::vector<ScalingPoint> points;
    for (const std::int64_t wanted : scaling_counts(static_cast<std::int64_t>(series.rbegin()->first), kMeasured)) {
        const auto found = series.find(static_cast<double>(wanted));
        if (found != series.end()) points.push_back({found->first, found->second});
    }
    return points;
}

int run()
{
    std::vector<double> errors;
    std::size_t inside = 0;
    std::map<std::string, int> chosen;
    fmt::print("{:<62} {:>12} {:>9} {:>5}\n", "series", "model", "median", "knee");
    for (const auto& [name, series] : read_series(std::cin)) {
        if (series.size() < kLeastCounts) continue;
        const std::vector<ScalingPoint> points = measured_points(series);
        const Result<ScalingCurve> curve = fit_scaling(points, ScalingMode::kStrong);
        if (!curve) throw std::runtime_error(name + ": " + describe(curve.error()));
        std::vector<double> own;
        for (const auto& [count, rate] : series) {
            const bool was_measured = std::any_of(points.begin(), points.end(),
                                                  [&, n = count](const ScalingPoint& p) { return p.unit_count == n; });
            if (was_measured) continue;
            const RateEstimate estimate = curve->rate(count);
            own.push_back(std::abs(estimate.rate / rate - 1));
            if (estimate.low <= rate && rate <= estimate.high) ++inside;
        }
        const std::string model(to_string(curve->models.front().fit.model));
        ++chosen[model];
        fmt::print("{:<62} {:>12} {:>7.1f} % {:>5}\n", name, model, 100 * median(own),
                   knee(*curve, static_cast<std::int64_t>(series.rbegin()->first)));
        errors.insert(errors.end(), own.begin(), own.end());
    }
    if (errors.empty()) throw std::runtime_error("the file holds no series long enough");
    for (const auto& [model, times] : chosen)
        fmt::print("{} chosen {} times\n", model, times);
    fmt::print("RESULT heldout_median_error_pct {:.2f} %\n", 100 * median(errors));
    fmt::print("RESULT heldout_in_80pct_interval_pct {:.1f} %\n",
               100.0 * static_cast<double>(inside) / static_cast<double>(errors.size()));
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
