#include "core/decide/prediction/load_curve.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/prediction/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

/// As a deviation of the slope before anything is known.
constexpr double kUsualSlope = 0.05;
constexpr double kSendingNoise = 0.05;
/// As how many results counts what is known of noise from elsewhere.
constexpr double kSendingNoiseResults = 2;
/// Loads that are closer tell noise.
constexpr double kLeastApart_cores = 0.5;

struct LoadPoint {
    double busy_cores{};
    double log_time{};
};

struct SizePoints {
    std::vector<LoadPoint> points;
    LoadPoint mean;
};

/// Sorted: sums of floating-point numbers depend on their order.
std::map<std::string_view, SizePoints> by_size(std::span<const LoadedResult> results)
{
    std::map<std::string_view, SizePoints> sizes;
    for (const LoadedResult& result : results) {
        const bool is_good = std::isfinite(result.busy_cores) && result.busy_cores >= 0 && result.median_s > 0 &&
                             std::isfinite(result.median_s);
        if (is_good) sizes[result.parameters_key].points.push_back({result.busy_cores, portable::log(result.median_s)});
    }
    for (auto& [key, size] : sizes) {
        std::sort(size.points.begin(), size.points.end(), [](const LoadPoint& a, const LoadPoint& b) {
            return a.busy_cores != b.busy_cores ? a.busy_cores < b.busy_cores : a.log_time < b.log_time;
        });
        for (const LoadPoint& point : size.points) {
            size.mean.busy_cores += point.busy_cores;
            size.mean.log_time += point.log_time;
        }
        const auto count = static_cast<double>(size.points.size());
        size.mean.busy_cores /= count;
        size.mean.log_time /= count;
    }
    return sizes;
}

/// Of all points within their sizes.
struct LoadSums {
    double busy_square{};
    double product{};
    double time_square{};
    double free_results{}; ///< those beyond the first of each size
};

} // namespace

LoadFactor LoadCurve::at(double busy_cores) const
{
    const double beside = std::clamp(busy_cores, 0.0, largest_busy_cores);
    const double away = kWidthOf80Percent * deviation * beside;
    const double log_factor = slope * beside;
    return {.factor = portable::exp(log_factor),
            .low = portable::exp(std::max(log_factor - away, 0.0)),
            .high = portable::exp(log_factor + away)};
}

std::optional<LoadCurve> fit_load_curve(std::span<const LoadedResult> results)
{
    LoadSums sums;
    LoadCurve curve;
    for (const auto& [key, size] : by_size(results)) {
        const double apart = size.points.back().busy_cores - size.points.front().busy_cores;
        if (apart < kLeastApart_cores) continue;
        for (const LoadPoint& point : size.points) {
            const double busy = point.busy_cores - size.mean.busy_cores;
            const double time = point.log_time - size.mean.log_time;
            sums.busy_square += portable::square(busy);
            sums.product += busy * time;
            sums.time_square += portable::square(time);
        }
        sums.free_results += static_cast<double>(size.points.size() - 1);
        curve.result_count += static_cast<std::int64_t>(size.points.size());
        curve.largest_busy_cores = std::max(curve.largest_busy_cores, size.points.back().busy_cores);
    }
    if (curve.result_count == 0) return std::nullopt;
    // What the line of least squares leaves; it has taken one result itself.
    const double left = std::max(sums.time_square - portable::square(sums.product) / sums.busy_square, 0.0);
    const double noise_square = (kSendingNoiseResults * portable::square(kSendingNoise) + left) /
                                (kSendingNoiseResults + std::max(sums.free_results - 1, 0.0));
    const double told = sums.busy_square + noise_square / portable::square(kUsualSlope);
    curve.slope = std::max(sums.product / told, 0.0);
    curve.deviation = std::sqrt(noise_square / told);
    return curve;
}

Json to_json(const LoadCurve& curve)
{
    constexpr std::array<double, 3> kShown{0.25, 0.5, 1}; // of the largest load
    Json points = Json::array();
    for (const double share : kShown) {
        const double busy_cores = share * curve.largest_busy_cores;
        const LoadFactor factor = curve.at(busy_cores);
        points.push_back(
            {{"busy_cores", busy_cores}, {"factor", factor.factor}, {"low", factor.low}, {"high", factor.high}});
    }
    return {{"slope", curve.slope},
            {"largest_busy_cores", curve.largest_busy_cores},
            {"result_count", curve.result_count},
            {"points", std::move(points)}};
}

} // namespace fathom
