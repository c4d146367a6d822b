#include "core/decide/prediction/load_curve.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/prediction/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// As a deviation of the slope before anything is known.
constexpr double kUsualSlope = 0.05;
/// As how many results counts what is known of noise from elsewhere.
constexpr double kSendingNoiseResults = 2;
/// Loads that are closer tell noise.
constexpr double kMinDistance_cores = 0.5;

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

/// With an 80 % interval.
LoadFactor factor_of(double log_factor, double deviation)
{
    const double away = kWidthOf80Percent * deviation;
    return {.factor = portable::exp(log_factor),
            .low = portable::exp(std::max(log_factor - away, 0.0)),
            .high = portable::exp(log_factor + away)};
}

/// What is known of noise from elsewhere, mixed with what `count` results left of squares, of which the fit has taken
/// one.
double noise_square_of(double squares, double count)
{
    return (kSendingNoiseResults * portable::square(kSendingNoise) + squares) /
           (kSendingNoiseResults + std::max(count - 1, 0.0));
}

/// One load: sorted, for the sums' sake.
CopiesPoint point_of(std::int64_t copies, std::vector<const CopyResult*> results)
{
    std::sort(results.begin(), results.end(), [](const CopyResult* a, const CopyResult* b) {
        return std::tie(a->run_id, a->ratio, a->busy_cores, a->deviation) <
               std::tie(b->run_id, b->ratio, b->busy_cores, b->deviation);
    });
    CopiesPoint point{.copies = copies};
    const auto count = static_cast<double>(results.size());
    std::string_view run;
    for (const CopyResult* const one : results) {
        point.busy_cores += one->busy_cores / count;
        point.log_factor += portable::log(one->ratio) / count;
        if (point.run_count == 0 || one->run_id != run) ++point.run_count;
        run = one->run_id;
    }
    double squares = 0;
    double within_square = 0;
    for (const CopyResult* const one : results) {
        squares += portable::square(portable::log(one->ratio) - point.log_factor);
        within_square += portable::square(one->deviation) / count;
    }
    // Copies of one run share the time alone, and bursts of their host: as many results as runs.
    point.deviation =
        std::sqrt((noise_square_of(squares, count) + within_square) / static_cast<double>(point.run_count));
    return point;
}

std::vector<CopiesPoint> points_of(std::span<const CopyResult> results)
{
    std::map<std::int64_t, std::vector<const CopyResult*>> by_copies;
    for (const CopyResult& one : results) {
        const bool is_good = one.copies >= 2 && one.busy_cores > 0 && std::isfinite(one.busy_cores) && one.ratio > 0 &&
                             std::isfinite(one.ratio) && std::isfinite(one.deviation);
        if (is_good) by_copies[one.copies].push_back(&one);
    }
    std::vector<CopiesPoint> points;
    double least = 0;
    for (auto& [copies, of_load] : by_copies) {
        CopiesPoint point = point_of(copies, std::move(of_load));
        least = point.log_factor = std::max(point.log_factor, least);
        points.push_back(point);
    }
    // More copies hold more cores; where others' jobs blur that, the later point is no load of its own.
    const auto is_no_more = [](const CopiesPoint& a, const CopiesPoint& b) { return b.busy_cores <= a.busy_cores; };
    points.erase(std::unique(points.begin(), points.end(), is_no_more), points.end());
    return points;
}

/// Those that were measured in turn with bubbles, with their times beside these.
std::vector<CopyResult> beside_bubbles_of(std::span<const CopyResult> results)
{
    std::vector<CopyResult> beside;
    for (const CopyResult& one : results) {
        if (!one.pressure) continue;
        beside.push_back(one);
        beside.back().ratio = one.pressure->beside_bubbles;
    }
    return beside;
}

std::vector<PressureResult> pressures_of(std::span<const CopyResult> results)
{
    std::vector<PressureResult> pressures;
    for (const CopyResult& one : results) {
        if (one.pressure) pressures.push_back({one.run_id, *one.pressure});
    }
    return pressures;
}

LoadFactor beside_copies(std::span<const CopiesPoint> points, double busy_cores)
{
    CopiesPoint below; // none
    for (const CopiesPoint& above : points) {
        if (busy_cores >= above.busy_cores) {
            below = above;
            continue;
        }
        const double share = (busy_cores - below.busy_cores) / (above.busy_cores - below.busy_cores);
        return factor_of(below.log_factor + share * (above.log_factor - below.log_factor),
                         below.deviation + share * (above.deviation - below.deviation));
    }
    return factor_of(below.log_factor, below.deviation);
}

} // namespace

LoadFactor LoadCurve::at(double busy_cores) const
{
    if (!copies.empty()) return beside_copies(copies, std::max(busy_cores, 0.0));
    const double beside = std::clamp(busy_cores, 0.0, largest_busy_cores);
    return factor_of(slope * beside, deviation * beside);
}

LoadFactor LoadCurve::beside_bubbles(double bubble_cores) const
{
    return beside_copies(bubbles, std::max(bubble_cores, 0.0));
}

std::optional<LoadCurve> fit_load_curve(std::span<const LoadedResult> results, std::span<const CopyResult> copies)
{
    LoadSums sums;
    LoadCurve curve;
    curve.copies = points_of(copies);
    curve.bubbles = points_of(beside_bubbles_of(copies));
    curve.pressure = fit_pressure(pressures_of(copies));
    for (const auto& [key, size] : by_size(results)) {
        const double apart = size.points.back().busy_cores - size.points.front().busy_cores;
        if (apart < kMinDistance_cores) continue;
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
    if (curve.result_count == 0) return curve.copies.empty() ? std::nullopt : std::optional(std::move(curve));
    // What the line of least squares leaves; it has taken one result itself.
    const double left = std::max(sums.time_square - portable::square(sums.product) / sums.busy_square, 0.0);
    const double noise_square = noise_square_of(left, sums.free_results);
    const double told = sums.busy_square + noise_square / portable::square(kUsualSlope);
    curve.slope = std::max(sums.product / told, 0.0);
    curve.deviation = std::sqrt(noise_square / told);
    return curve;
}

namespace {

Json point_json(double busy_cores, const LoadFactor& factor)
{
    return {{"busy_cores", busy_cores}, {"factor", factor.factor}, {"low", factor.low}, {"high", factor.high}};
}

Json copies_json(std::span<const CopiesPoint> points)
{
    Json copies = Json::array();
    for (const CopiesPoint& point : points) {
        Json json = point_json(point.busy_cores, factor_of(point.log_factor, point.deviation));
        json["copies"] = point.copies;
        json["run_count"] = point.run_count;
        copies.push_back(std::move(json));
    }
    return copies;
}

Json pressure_json(const Pressure& pressure)
{
    const double away = kWidthOf80Percent * pressure.deviation;
    return {{"per_core", pressure.per_core},
            {"low", std::max(pressure.per_core - away, 0.0)},
            {"high", pressure.per_core + away},
            {"run_count", pressure.run_count}};
}

} // namespace

Json to_json(const LoadCurve& curve)
{
    constexpr std::array<double, 3> kShown{0.25, 0.5, 1}; // of the largest load
    Json points = Json::array();
    for (const double share : kShown) {
        const double busy_cores = share * curve.known_busy_cores();
        points.push_back(point_json(busy_cores, curve.at(busy_cores)));
    }
    return {{"source", curve.copies.empty() ? "neighbours" : "copies"},
            {"largest_busy_cores", curve.known_busy_cores()},
            {"points", std::move(points)},
            {"slope", curve.result_count > 0 ? Json(curve.slope) : Json()},
            {"result_count", curve.result_count},
            {"copies", copies_json(curve.copies)},
            {"bubbles", copies_json(curve.bubbles)},
            {"pressure", curve.pressure ? pressure_json(*curve.pressure) : Json()}};
}

const LoadCurve* find_load(const UnitLoads* loads, std::string_view operator_id)
{
    if (loads == nullptr) return nullptr;
    const auto found =
        std::lower_bound(loads->begin(), loads->end(), operator_id,
                         [](const OperatorLoad& one, std::string_view id) { return one.operator_id < id; });
    return found != loads->end() && found->operator_id == operator_id ? &found->curve : nullptr;
}

} // namespace fathom
