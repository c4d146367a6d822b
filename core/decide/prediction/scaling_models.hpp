#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Models of how the rate of an operator grows with the number of units (M19), each fitted by least squares
/// of relative errors. `n` is the number of units, t(n) = 1 / rate(n) the time for one execution in all.
namespace fathom {

/// The rate of so many units together: executions per second, or any fixed multiple of it.
struct ScalingPoint {
    double unit_count{};
    double rate{};
};

enum class ScalingModel {
    kAmdahl,     ///< t = a/n + b: a part that is divided and one that is not (Amdahl, AFIPS 1967)
    kGustafson,  ///< rate = a + b·n: the divided part grows with n (Gustafson, CACM 1988)
    kUniversal,  ///< t = a/n + b + c·n: contention and coherence (Gunther, Guerrilla Capacity Planning, 2007)
    kSaturation, ///< t = a·(1 + (n/m)^p)^(1/p) / n: all units share one resource that m of them exhaust
    kNormalForm, ///< t = a + b·n^i·log2(n)^j: two terms of the performance model normal form (Calotoiu et al., SC 2013)
};
std::string_view to_string(ScalingModel model);

/// Every model, those with fewer coefficients first.
std::span<const ScalingModel> scaling_models();

/// How many numbers a model adjusts to the points.
std::size_t coefficient_count(ScalingModel model);

/// A model with its coefficients in the order of the formula above.
struct ScalingFit {
    ScalingModel model{ScalingModel::kAmdahl};
    std::vector<double> coefficients;

    /// `unit_count` > 0; may be fractional.
    double rate(double unit_count) const;
};

/// The coefficients, none negative where the formula's terms are times, that make the sum of squared relative
/// errors of t least. Empty when there are fewer points than coefficients, or when no choice keeps the time
/// positive up to twice the largest count. Rates must be positive, counts distinct and at least 1.
std::optional<ScalingFit> fit_model(ScalingModel model, std::span<const ScalingPoint> points);

} // namespace fathom
