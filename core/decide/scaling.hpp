#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/scaling_models.hpp"

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
    /// The chosen model without one point, and how far it then missed that point, as |ln(predicted / measured)|.
    struct LeftOut {
        ScalingFit fit;
        double residual{};
    };

    ScalingMode mode{ScalingMode::kStrong};
    std::vector<ScalingPoint> points; ///< by count
    std::vector<Judged> models;       ///< best first; the first is the one that is used
    std::vector<LeftOut> left_out;    ///< what the interval is made of; empty when there are too few points

    /// The model's rate, with the jackknife+ interval (Barber, Candès, Ramdas, Tibshirani, Annals of
    /// Statistics 2021) in the logarithm of the rate: it widens where the models without one point disagree.
    RateEstimate rate(double unit_count) const;

    /// rate(1): as measured, or the model's where one unit was not.
    double single_rate() const;

    /// E(n) = rate(n) / (n · rate(1)) (M19).
    double efficiency(double unit_count) const;

    double largest_measured() const { return points.back().unit_count; }
};

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

/// Counts to measure so that models can be told apart: 1, `most`, and others between them at nearly equal
/// ratios; `wanted` of them, or all when there are not so many. At least two are wanted.
std::vector<std::int64_t> scaling_counts(std::int64_t most, std::size_t wanted);

/// Of `candidates`, the count at which the fitted models disagree most: measuring it tells most. The smallest
/// of equals; `candidates` is not empty.
std::int64_t most_telling_count(const ScalingCurve& curve, std::span<const std::int64_t> candidates);

Json to_json(const ScalingCurve& curve);

} // namespace fathom
