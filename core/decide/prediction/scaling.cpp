#include "core/decide/prediction/scaling.hpp"

#include "core/base/portable_math.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom {
namespace {

constexpr double kCurveCoverage = 0.8;

/// What errors of ln rate have in common at all counts (noise, a model that does not fit), in units of what a random
/// walk over ln count adds: chosen on synthetic curves, docs/measurement.md.
constexpr double kCommonVariance = 0.7;

/// Leave-one-out errors this close are a tie: what is left is rounding or chance.
constexpr double kTieError = 1e-6;
constexpr double kTieRatio = 1.02;

constexpr std::size_t kMaxSearched = 1000;
constexpr std::size_t kDrawnCounts = 32;

/// Of the 80 % interval's upper by its lower end: ±10 %.
constexpr double kWideInterval = 1.2;
/// Enough to choose from, however many units there are.
constexpr std::size_t kMaxCandidates = 64;

double miss(const ScalingFit& fit, const ScalingPoint& point)
{
    return std::abs(portable::log(fit.rate(point.unit_count) / point.rate));
}

std::vector<double> counts_of(const std::vector<ScalingPoint>& points)
{
    std::vector<double> counts;
    for (const ScalingPoint& point : points)
        counts.push_back(point.unit_count);
    return counts;
}

/// How far a model misses points that it was not fitted to.
struct ModelMiss {
    double mean_miss{};
    double half_interval{}; ///< ScalingCurve::half_interval
};

/// Of the model without each point in turn; empty where it cannot be fitted, or has no rate at a point that is left
/// out. The smallest count is never left out: what one unit does is what everything else is compared with, and no model
/// can know it from the others.
std::optional<ModelMiss> leave_out(ScalingModel model, const std::vector<ScalingPoint>& points)
{
    double sum = 0;
    double squares = 0; // of misses where the variance is 1
    for (std::size_t i = 1; i < points.size(); ++i) {
        std::vector<ScalingPoint> rest = points;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        const std::optional<ScalingFit> fit = fit_model(model, rest);
        if (!fit) return std::nullopt;
        const double missed = miss(*fit, points[i]);
        if (!std::isfinite(missed)) return std::nullopt;
        sum += missed;
        squares += missed * missed / error_variance(counts_of(rest), points[i].unit_count);
    }
    const auto count = static_cast<double>(points.size() - 1);
    // So few squares tell their mean badly: Student's t, not the normal distribution.
    const double t = boost::math::quantile(boost::math::students_t(count), (1 + kCurveCoverage) / 2);
    return ModelMiss{sum / count, t * std::sqrt(squares / count)};
}

double mean_miss(const ScalingFit& fit, const std::vector<ScalingPoint>& points)
{
    double sum = 0;
    for (const ScalingPoint& point : points)
        sum += miss(fit, point);
    return sum / static_cast<double>(points.size());
}

Result<std::vector<ScalingPoint>> tidy(std::span<const ScalingPoint> points)
{
    std::map<double, std::vector<double>> rates;
    for (const ScalingPoint& point : points) {
        if (!(point.rate > 0) || !std::isfinite(point.rate) || !(point.unit_count >= 1))
            return Error{Errc::kInvalid, "a scaling curve needs counts of at least 1 and positive rates"};
        rates[point.unit_count].push_back(point.rate);
    }
    if (rates.size() < 2) return Error{Errc::kInvalid, "a scaling curve needs measurements at two counts or more"};
    std::vector<ScalingPoint> tidied;
    for (const auto& [count, values] : rates) {
        double sum = 0;
        for (const double value : values)
            sum += value;
        tidied.push_back({count, sum / static_cast<double>(values.size())});
    }
    return tidied;
}

} // namespace

std::string_view to_string(ScalingMode mode)
{
    return mode == ScalingMode::kStrong ? "strong" : "throughput";
}

RateEstimate ScalingCurve::rate(double unit_count) const
{
    RateEstimate estimate;
    estimate.rate = estimate.low = estimate.high = models.front().fit.rate(unit_count);
    estimate.is_extrapolated = unit_count > 2 * largest_measured() || unit_count < points.front().unit_count;
    if (!half_interval) return estimate;
    const double factor = portable::exp(*half_interval * std::sqrt(error_variance(counts_of(points), unit_count)));
    estimate.low /= factor;
    estimate.high *= factor;
    return estimate;
}

double ScalingCurve::single_rate() const
{
    return points.front().unit_count == 1 ? points.front().rate : models.front().fit.rate(1);
}

double ScalingCurve::efficiency(double unit_count) const
{
    return models.front().fit.rate(unit_count) / (unit_count * single_rate());
}

double error_variance(std::span<const double> measured, double unit_count)
{
    const auto above = std::lower_bound(measured.begin(), measured.end(), unit_count);
    if (above == measured.begin()) return kCommonVariance + portable::log(measured.front() / unit_count);
    const double from_below = portable::log(unit_count / *std::prev(above));
    if (above == measured.end()) return kCommonVariance + from_below;
    const double to_above = portable::log(*above / unit_count);
    return kCommonVariance + from_below * to_above / (from_below + to_above);
}

Result<ScalingCurve> fit_scaling(std::span<const ScalingPoint> points, ScalingMode mode)
{
    Result<std::vector<ScalingPoint>> tidied = tidy(points);
    if (!tidied) return tidied.error();
    ScalingCurve curve;
    curve.mode = mode;
    curve.points = std::move(*tidied);
    std::map<ScalingModel, double> half_intervals;
    for (const ScalingModel model : scaling_models()) {
        std::optional<ScalingFit> fit = fit_model(model, curve.points);
        if (!fit) continue;
        // With one point more than coefficients a model can be judged; with fewer points in all, the simplest
        // model that passes closest is taken.
        const std::optional<ModelMiss> left_out = leave_out(model, curve.points);
        const double error = left_out ? left_out->mean_miss : mean_miss(*fit, curve.points);
        if (!left_out && curve.points.size() > 2) continue;
        if (left_out) half_intervals[model] = left_out->half_interval;
        curve.models.push_back({std::move(*fit), error});
    }
    if (curve.models.empty()) return Error{Errc::kInvalid, "no model fits these measurements"};
    std::sort(curve.models.begin(), curve.models.end(), [](const auto& a, const auto& b) {
        return a.error != b.error ? a.error < b.error : a.fit.model < b.fit.model;
    });
    const double tie = std::max(curve.models.front().error * kTieRatio, curve.models.front().error + kTieError);
    const auto first = curve.models.begin();
    auto simplest = first;
    for (auto one = first; one != curve.models.end() && one->error <= tie; ++one) {
        if (coefficient_count(one->fit.model) < coefficient_count(simplest->fit.model)) simplest = one;
    }
    std::rotate(first, simplest, simplest + 1);
    const auto half_interval = half_intervals.find(curve.models.front().fit.model);
    if (half_interval != half_intervals.end()) curve.half_interval = half_interval->second;
    return curve;
}

std::int64_t knee(const ScalingCurve& curve, std::int64_t most)
{
    const auto limit = std::min(most, static_cast<std::int64_t>(2 * curve.largest_measured()));
    const auto power = [&](std::int64_t n) {
        const auto count = static_cast<double>(n);
        const double efficiency = curve.efficiency(count);
        return efficiency * efficiency * count;
    };
    std::int64_t best = 1;
    // Every count up to a thousand, then in steps of a per mille: nobody needs it more exactly.
    for (std::int64_t n = 1; n <= limit; n += std::max<std::int64_t>(1, n / static_cast<std::int64_t>(kMaxSearched))) {
        if (power(n) > power(best) * (1 + 1e-9)) best = n;
    }
    return best;
}

std::vector<std::int64_t> scaling_counts(std::int64_t most, std::size_t wanted)
{
    FATHOM_ASSERT(most >= 1 && wanted >= 2);
    std::vector<std::int64_t> counts;
    if (static_cast<std::size_t>(most) <= wanted) {
        for (std::int64_t n = 1; n <= most; ++n)
            counts.push_back(n);
        return counts;
    }
    for (std::size_t i = 0; i < wanted; ++i) {
        const double exponent = static_cast<double>(i) / static_cast<double>(wanted - 1);
        const auto near = static_cast<std::int64_t>(std::llround(portable::pow(static_cast<double>(most), exponent)));
        // Small counts lie closer together than whole numbers: the next free one is taken.
        counts.push_back(counts.empty() ? 1 : std::max(near, counts.back() + 1));
    }
    counts.back() = most;
    return counts;
}

std::int64_t most_telling_count(const ScalingCurve& curve, std::span<const std::int64_t> candidates)
{
    FATHOM_ASSERT(!candidates.empty());
    // Models that have missed by far have no say.
    const double best_error = curve.models.front().error;
    const auto disagreement = [&](std::int64_t n) {
        double least = HUGE_VAL;
        double largest = 0;
        for (const ScalingCurve::Judged& one : curve.models) {
            if (one.error > 3 * best_error + 0.02) continue;
            const double rate = one.fit.rate(static_cast<double>(n));
            least = std::min(least, rate);
            largest = std::max(largest, rate);
        }
        return portable::log(largest / least);
    };
    std::int64_t best = candidates.front();
    for (const std::int64_t n : candidates) {
        const double difference = disagreement(n) - disagreement(best);
        if (difference > 0 || (difference == 0 && n < best)) best = n;
    }
    return best;
}

std::optional<std::int64_t> next_scaling_count(std::span<const ScalingCurve> curves, std::int64_t most,
                                               std::span<const std::int64_t> measured)
{
    std::vector<std::int64_t> candidates;
    for (const std::int64_t n : scaling_counts(std::max<std::int64_t>(most, 1), kMaxCandidates)) {
        if (std::find(measured.begin(), measured.end(), n) == measured.end()) candidates.push_back(n);
    }
    if (candidates.empty()) return std::nullopt;
    std::optional<std::int64_t> best;
    double widest = kWideInterval;
    for (const ScalingCurve& curve : curves) {
        const std::int64_t count = most_telling_count(curve, candidates);
        const RateEstimate estimate = curve.rate(static_cast<double>(count));
        const double width = estimate.low > 0 ? estimate.high / estimate.low : HUGE_VAL;
        if (width <= widest) continue;
        widest = width;
        best = count;
    }
    return best;
}

namespace {

/// The chosen model as far as it is believed, close enough to draw it.
Json drawn_curve(const ScalingCurve& curve)
{
    Json list = Json::array();
    const auto most = static_cast<std::int64_t>(2 * curve.largest_measured());
    for (const std::int64_t n : scaling_counts(std::max<std::int64_t>(most, 2), kDrawnCounts)) {
        const RateEstimate estimate = curve.rate(static_cast<double>(n));
        list.push_back({{"unit_count", n}, {"rate", estimate.rate}, {"low", estimate.low}, {"high", estimate.high}});
    }
    return list;
}

} // namespace

Json to_json(const ScalingCurve& curve)
{
    Json points = Json::array();
    for (const ScalingPoint& point : curve.points) {
        const RateEstimate estimate = curve.rate(point.unit_count);
        points.push_back({{"unit_count", point.unit_count},
                          {"rate", point.rate},
                          {"model_rate", estimate.rate},
                          {"low", estimate.low},
                          {"high", estimate.high},
                          {"efficiency", point.rate / (point.unit_count * curve.points.front().rate) *
                                             curve.points.front().unit_count}});
    }
    Json models = Json::array();
    for (const ScalingCurve::Judged& one : curve.models) {
        models.push_back({{"model", to_string(one.fit.model)},
                          {"coefficients", one.fit.coefficients},
                          {"left_out_error", one.error}});
    }
    return {{"mode", to_string(curve.mode)},
            {"points", std::move(points)},
            {"models", std::move(models)},
            {"curve", drawn_curve(curve)}};
}

} // namespace fathom
