#include "core/decide/prediction/scaling_models.hpp"

#include "core/base/portable_math.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace fathom {
namespace {

constexpr std::array kModels{ScalingModel::kAmdahl, ScalingModel::kGustafson, ScalingModel::kNormalForm,
                             ScalingModel::kUniversal, ScalingModel::kSaturation};

constexpr std::array kExponents{-2.0,     -1.5,     -1.0, -3.0 / 4, -2.0 / 3, -1.0 / 2,
                                -1.0 / 3, -1.0 / 4, 0.0,  1.0 / 4,  1.0 / 2,  1.0};
constexpr std::array kLogExponents{0.0, 1.0, 2.0};

/// How sharply a shared resource saturates: 1 as in a queue, 10 nearly a corner.
constexpr std::array kSharpness{1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0};
constexpr int kSaturationSteps = 60;

/// A candidate with the sum of its squared relative errors.
struct Candidate {
    double squared_error{};
    std::vector<double> coefficients;
};

void keep_better(std::optional<Candidate>& best, Candidate candidate)
{
    if (!best || candidate.squared_error < best->squared_error) best = std::move(candidate);
}

/// Least squares of A·x = 1 with no coefficient below zero: with at most three columns every set of columns
/// that are not zero can be tried.
std::optional<Candidate> solve_not_negative(const Eigen::MatrixXd& columns)
{
    const Eigen::Index all = columns.cols();
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(columns.rows());
    std::optional<Candidate> best;
    for (unsigned set = 1; set < (1U << static_cast<unsigned>(all)); ++set) {
        std::vector<Eigen::Index> used;
        for (Eigen::Index column = 0; column < all; ++column) {
            if ((set >> static_cast<unsigned>(column) & 1U) != 0) used.push_back(column);
        }
        Eigen::MatrixXd part(columns.rows(), static_cast<Eigen::Index>(used.size()));
        for (std::size_t i = 0; i < used.size(); ++i)
            part.col(static_cast<Eigen::Index>(i)) = columns.col(used[i]);
        const Eigen::VectorXd solution = part.colPivHouseholderQr().solve(ones);
        if ((solution.array() < 0).any() || !solution.allFinite()) continue;
        Candidate candidate{(part * solution - ones).squaredNorm(),
                            std::vector<double>(static_cast<std::size_t>(all), 0.0)};
        for (std::size_t i = 0; i < used.size(); ++i)
            candidate.coefficients[static_cast<std::size_t>(used[i])] = solution[static_cast<Eigen::Index>(i)];
        keep_better(best, std::move(candidate));
    }
    return best;
}

/// One row a point and one column a term, each divided by the measured time: residuals are relative errors.
Eigen::MatrixXd relative_terms(std::span<const ScalingPoint> points,
                               const std::vector<std::function<double(double)>>& terms)
{
    Eigen::MatrixXd columns(static_cast<Eigen::Index>(points.size()), static_cast<Eigen::Index>(terms.size()));
    for (std::size_t row = 0; row < points.size(); ++row) {
        for (std::size_t column = 0; column < terms.size(); ++column) {
            columns(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column)) =
                terms[column](points[row].unit_count) * points[row].rate;
        }
    }
    return columns;
}

double inverse(double n)
{
    return 1 / n;
}

double one(double /*n*/)
{
    return 1;
}

double same(double n)
{
    return n;
}

double normal_form_term(double n, double exponent, double log_exponent)
{
    return portable::pow(n, exponent) * (log_exponent == 0 ? 1 : portable::pow(portable::log2(n), log_exponent));
}

std::optional<Candidate> fit_gustafson(std::span<const ScalingPoint> points)
{
    // rate = a + b·n is linear in a and b as it stands; relative errors of rate and of time agree when small.
    Eigen::MatrixXd columns(static_cast<Eigen::Index>(points.size()), 2);
    for (std::size_t row = 0; row < points.size(); ++row) {
        columns(static_cast<Eigen::Index>(row), 0) = 1 / points[row].rate;
        columns(static_cast<Eigen::Index>(row), 1) = points[row].unit_count / points[row].rate;
    }
    return solve_not_negative(columns);
}

std::optional<Candidate> fit_saturation(std::span<const ScalingPoint> points, double most)
{
    std::optional<Candidate> best;
    for (const double sharpness : kSharpness) {
        for (int step = 0; step < kSaturationSteps; ++step) {
            const double place = 0.5 * portable::pow(8 * most, static_cast<double>(step) / (kSaturationSteps - 1));
            const auto shape = [&](double n) {
                return portable::pow(1 + portable::pow(n / place, sharpness), 1 / sharpness) / n;
            };
            const Eigen::VectorXd column = relative_terms(points, {shape}).col(0);
            const double scale = column.sum() / column.squaredNorm();
            const double squared_error = (scale * column.array() - 1).square().sum();
            keep_better(best, {squared_error, {scale, place, sharpness}});
        }
    }
    return best;
}

std::optional<Candidate> fit_normal_form(std::span<const ScalingPoint> points, double most)
{
    std::optional<Candidate> best;
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(static_cast<Eigen::Index>(points.size()));
    for (const double exponent : kExponents) {
        for (const double log_exponent : kLogExponents) {
            if (exponent == 0 && log_exponent == 0) continue;
            const auto term = [&](double n) { return normal_form_term(n, exponent, log_exponent); };
            const Eigen::MatrixXd columns = relative_terms(points, {one, term});
            const Eigen::VectorXd solution = columns.colPivHouseholderQr().solve(ones);
            if (!solution.allFinite()) continue;
            bool is_positive = true; // either coefficient may be negative, the time may not
            for (double n = 1; n <= 2 * most; n *= 1.1)
                is_positive = is_positive && solution[0] + solution[1] * term(n) > 0;
            is_positive = is_positive && solution[0] + solution[1] * term(2 * most) > 0;
            if (!is_positive) continue;
            keep_better(
                best, {(columns * solution - ones).squaredNorm(), {solution[0], solution[1], exponent, log_exponent}});
        }
    }
    return best;
}

std::optional<Candidate> fit_any(ScalingModel model, std::span<const ScalingPoint> points, double most)
{
    switch (model) {
    case ScalingModel::kAmdahl:
        return solve_not_negative(relative_terms(points, {inverse, one}));
    case ScalingModel::kGustafson:
        return fit_gustafson(points);
    case ScalingModel::kUniversal:
        return solve_not_negative(relative_terms(points, {inverse, one, same}));
    case ScalingModel::kSaturation:
        return fit_saturation(points, most);
    case ScalingModel::kNormalForm:
        return fit_normal_form(points, most);
    }
    return std::nullopt;
}

/// Models divide by a power of what they are scaled with; rates may be of any size.
double largest_rate(std::span<const ScalingPoint> points)
{
    double largest = 0;
    for (const ScalingPoint& point : points)
        largest = std::max(largest, point.rate);
    return largest;
}

} // namespace

std::string_view to_string(ScalingModel model)
{
    switch (model) {
    case ScalingModel::kAmdahl:
        return "amdahl";
    case ScalingModel::kGustafson:
        return "gustafson";
    case ScalingModel::kUniversal:
        return "universal";
    case ScalingModel::kSaturation:
        return "saturation";
    case ScalingModel::kNormalForm:
        return "normal_form";
    }
    return "amdahl";
}

std::span<const ScalingModel> scaling_models()
{
    return kModels;
}

std::size_t coefficient_count(ScalingModel model)
{
    return model == ScalingModel::kAmdahl || model == ScalingModel::kGustafson ? 2 : 3;
}

double ScalingFit::rate(double unit_count) const
{
    const std::vector<double>& c = coefficients;
    const double n = unit_count;
    switch (model) {
    case ScalingModel::kAmdahl:
        return 1 / (c[0] / n + c[1]);
    case ScalingModel::kGustafson:
        return c[0] + c[1] * n;
    case ScalingModel::kUniversal:
        return 1 / (c[0] / n + c[1] + c[2] * n);
    case ScalingModel::kSaturation:
        return n / (c[0] * portable::pow(1 + portable::pow(n / c[1], c[2]), 1 / c[2]));
    case ScalingModel::kNormalForm:
        return 1 / (c[0] + c[1] * normal_form_term(n, c[2], c[3]));
    }
    return 0;
}

std::optional<ScalingFit> fit_model(ScalingModel model, std::span<const ScalingPoint> points)
{
    if (points.size() < coefficient_count(model)) return std::nullopt;
    const double unit = largest_rate(points);
    double most = 1;
    std::vector<ScalingPoint> scaled(points.begin(), points.end());
    for (ScalingPoint& point : scaled) {
        point.rate /= unit;
        most = std::max(most, point.unit_count);
    }
    std::optional<Candidate> found = fit_any(model, scaled, most);
    if (!found) return std::nullopt;
    // Back to the unit of the rates: times shrink by what rates grow, the shape's numbers stay.
    const std::size_t sizes = model == ScalingModel::kSaturation   ? 1
                              : model == ScalingModel::kNormalForm ? 2
                                                                   : found->coefficients.size();
    for (std::size_t i = 0; i < sizes; ++i)
        found->coefficients[i] *= model == ScalingModel::kGustafson ? unit : 1 / unit;
    return ScalingFit{model, std::move(found->coefficients)};
}

} // namespace fathom
