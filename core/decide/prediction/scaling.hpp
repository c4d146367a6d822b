#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/scaling_models.hpp"

#include <optional>
#include <span>
#include <vector>

namespace fathom {

/// How n units share an operator's work (M19).
enum class ScalingMode {
    kStrong,     ///< one problem of fixed size, divided among them
    kThroughput, ///< n independent copies side by side
};
std::string_view to_string(ScalingMode mode);

/// The rate at a count, with an 80 % interval.
struct RateEstimate {
    double rate{};
    double low{};
    double high{};
    bool is_extrapolated{}; ///< beyond twice the largest measured count, or below the smallest
};

/// What was measured at several counts, and the model that explains it best.
struct ScalingCurve {
    /// One model on all points.
    struct Judged {
        ScalingFit fit;
        double error{}; ///< mean |ln(predicted / measured)| of points that were left out one at a time
    };
    ScalingMode mode{ScalingMode::kStrong};
    std::vector<ScalingPoint> points; ///< by count
    std::vector<Judged> models;       ///< best first; the first is the one that is used
    /// Half the 80 % interval of ln rate where error_variance() is 1, from how far the chosen model missed points that
    /// were left out; empty when there are too few points to leave one out.
    std::optional<double> half_interval;

    /// The model's rate, with an interval that widens with the distance to what was measured. Without half_interval
    /// the interval is the rate itself.
    RateEstimate rate(double unit_count) const;

    /// rate(1): as measured, or the model's where one unit was not.
    double single_rate() const;

    /// E(n) = rate(n) / (n · rate(1)) (M19).
    double efficiency(double unit_count) const;

    double largest_measured() const { return points.back().unit_count; }
};

/// How the squared error of ln rate grows away from the measured counts, which are ascending and not empty: what is
/// left of a random walk over ln count that is known at those counts, and a share that is the same everywhere.
double error_variance(std::span<const double> measured, double unit_count);

/// Fits every model that the points can carry, and chooses by leave-one-out error; of models that are equally
/// good the one with fewer coefficients.
/// @param points  at least two different counts, each at least 1; rates positive; any order. Of two points of
///                one count the mean rate is taken.
/// @error kInvalid  fewer than two counts, or a rate that is not positive.
Result<ScalingCurve> fit_scaling(std::span<const ScalingPoint> points, ScalingMode mode);

/// The count beyond which more units pay too little: where efficiency times speed-up, S(n)²/n, is largest
/// (Eager, Zahorjan, Lazowska, IEEE Transactions on Computers 1989); the smallest such count in 1..most. It is
/// never looked for beyond twice the largest measured count.
std::int64_t knee(const ScalingCurve& curve, std::int64_t most);

/// Counts that are measured for a curve (M19): fewer leave the models of scaling much alike.
inline constexpr std::size_t kScalingCounts = 5;

/// Counts to measure so that models can be told apart: 1, `most`, and others between them at nearly equal
/// ratios; `wanted` of them, or all when there are not so many. At least two are wanted.
std::vector<std::int64_t> scaling_counts(std::int64_t most, std::size_t wanted);

/// Of `candidates`, the count at which the fitted models disagree most: measuring it tells most. The smallest
/// of equals; `candidates` is not empty.
std::int64_t most_telling_count(const ScalingCurve& curve, std::span<const std::int64_t> candidates);

/// The one more count that is worth measuring when the curves of a task's operators have been fitted: of the curve
/// whose interval is widest there, the count at which the models disagree most. Empty when every curve is known well
/// enough, its 80 % interval within ±10 %, or nothing is left to measure.
/// @param most      units that there are.
/// @param measured  counts that were measured already.
std::optional<std::int64_t> next_scaling_count(std::span<const ScalingCurve> curves, std::int64_t most,
                                               std::span<const std::int64_t> measured);

Json to_json(const ScalingCurve& curve);

} // namespace fathom
