#include "core/decide/corun/instruction_model.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fathom {
namespace {

/// How strongly exponents are held towards that of the group, as Σ (ln size − mean)² of runs that would say the same.
constexpr double kSlopeStrength = 0.25;
/// Before residuals are known: runs of one kernel differ by a third, with the weight of one run.
constexpr double kPriorVariance = 0.3 * 0.3;
constexpr double kPriorRuns = 1;
/// A kernel's own residuals count against its application's as those of so many runs.
constexpr double kPooledRuns = 3;
/// Before kernels are known: they differ by a factor of e^1.5, with the weight of one kernel.
constexpr double kPriorBetween = 1.5 * 1.5;
constexpr double kTenthBelow = 1.2815515655446004; ///< of a normal distribution, and a tenth above

/// The value that a tenth is above, of Student's distribution: Cornish and Fisher's expansion; good to 1 % from 2 on.
double student_t(double freedom)
{
    const double z = kTenthBelow;
    const double z3 = z * z * z;
    const double z5 = z3 * z * z;
    return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

double shrunk(double sxy, double sxx, double towards)
{
    return (kSlopeStrength * towards + sxy) / (kSlopeStrength + sxx);
}

/// Σ (y − fit)² with a slope that need not be that of least squares.
double residual_squares(double syy, double sxy, double sxx, double slope)
{
    return std::max(0.0, syy - 2 * slope * sxy + slope * slope * sxx);
}

InstructionPrediction around(double y, double half_width)
{
    InstructionPrediction prediction;
    prediction.instructions = portable::exp(y);
    prediction.low = portable::exp(y - half_width);
    prediction.high = portable::exp(y + half_width);
    return prediction;
}

std::vector<FieldError> check_sample(const InstructionSample& sample)
{
    std::vector<FieldError> errors;
    const auto number = [&](const char* field, double value, double low, double high) {
        if (!(value >= low && value <= high))
            errors.push_back({field, fmt::format("must be between {:g} and {:g}", low, high)});
    };
    if (sample.application.empty()) errors.push_back({"application", "must not be empty"});
    if (sample.kernel.empty()) errors.push_back({"kernel", "must not be empty"});
    number("input_size", sample.input_size, 1 / kMaxInputSize, kMaxInputSize);
    number("instructions", sample.instructions, 1, kMaxInputSize);
    return errors;
}

} // namespace

std::string_view to_string(InstructionBasis basis)
{
    switch (basis) {
    case InstructionBasis::kKernel:
        return "kernel";
    case InstructionBasis::kApplication:
        return "application";
    case InstructionBasis::kAll:
        return "all";
    }
    return "all";
}

void InstructionModel::Sums::add(Point point, double sign)
{
    count += sign;
    x += sign * point.x;
    y += sign * point.y;
    xx += sign * point.x * point.x;
    xy += sign * point.x * point.y;
    yy += sign * point.y * point.y;
}

double InstructionModel::Sums::sxx() const
{
    return count > 0 ? std::max(0.0, xx - x * x / count) : 0;
}

double InstructionModel::Sums::sxy() const
{
    return count > 0 ? xy - x * y / count : 0;
}

double InstructionModel::Sums::syy() const
{
    return count > 0 ? std::max(0.0, yy - y * y / count) : 0;
}

void InstructionModel::Group::add(const Sums& kernel, double sign)
{
    if (kernel.count <= 0) return;
    runs += sign * kernel.count;
    kernels += sign;
    sxx += sign * kernel.sxx();
    sxy += sign * kernel.sxy();
    syy += sign * kernel.syy();
    means.add({kernel.mean_x(), kernel.mean_y()}, sign);
}

void InstructionModel::replace(Group& group, const Sums& before, const Sums& after)
{
    group.add(before, -1);
    group.add(after, 1);
}

Result<void> InstructionModel::learn(const InstructionSample& sample)
{
    if (std::vector<FieldError> errors = check_sample(sample); !errors.empty())
        return Error{Errc::kInvalid, "the run cannot be learned", std::move(errors)};
    const auto known = applications_.find(sample.application);
    const bool is_new = known == applications_.end() || !known->second.kernels.contains(sample.kernel);
    if (is_new && kernel_count_ >= kMaxKernels)
        return Error{Errc::kTooMany, fmt::format("{} kernels are known, and no more can be", kMaxKernels)};
    if (is_new) ++kernel_count_;
    Application& application = applications_[sample.application];
    Kernel& kernel = application.kernels[sample.kernel];
    const Sums before = kernel.sums;
    const Point point{portable::log(sample.input_size), portable::log(sample.instructions)};
    kernel.points.push_back(point);
    kernel.sums.add(point, 1);
    ++run_count_;
    if (kernel.points.size() > kRunsKept) {
        kernel.sums.add(kernel.points.front(), -1);
        kernel.points.pop_front();
        --run_count_;
    }
    replace(application.group, before, kernel.sums);
    replace(all_, before, kernel.sums);
    return {};
}

InstructionPrediction InstructionModel::predict_from(const Evidence& evidence, double x)
{
    const Group& all = *evidence.all;
    double slope = shrunk(all.sxy, all.sxx, 1);
    const Group* group = &all;
    if (evidence.application != nullptr && evidence.application->kernels > 0) {
        group = evidence.application;
        slope = shrunk(group->sxy, group->sxx, slope);
    }
    const double pooled = (residual_squares(group->syy, group->sxy, group->sxx, slope) + kPriorRuns * kPriorVariance) /
                          (std::max(0.0, group->runs - group->kernels) + kPriorRuns);
    if (evidence.kernel == nullptr || evidence.kernel->count <= 0) {
        const Sums& means = group->means;
        const double between = (residual_squares(means.syy(), means.sxy(), means.sxx(), slope) + kPriorBetween) /
                               std::max(1.0, group->kernels);
        const double variance = between * (1 + 1 / group->kernels) + pooled;
        InstructionPrediction prediction =
            around(means.mean_y() + slope * (x - means.mean_x()), student_t(group->kernels + 1) * std::sqrt(variance));
        prediction.basis = group == &all ? InstructionBasis::kAll : InstructionBasis::kApplication;
        prediction.runs = static_cast<std::int64_t>(group->runs);
        prediction.exponent = slope;
        return prediction;
    }
    const Sums& own = *evidence.kernel;
    slope = shrunk(own.sxy(), own.sxx(), slope);
    const double freedom = own.count - 1 + kPooledRuns;
    const double variance = (residual_squares(own.syy(), own.sxy(), own.sxx(), slope) + kPooledRuns * pooled) / freedom;
    const double distance = x - own.mean_x();
    const double scale = 1 + 1 / own.count + distance * distance / (own.sxx() + kSlopeStrength);
    InstructionPrediction prediction =
        around(own.mean_y() + slope * distance, student_t(freedom) * std::sqrt(variance * scale));
    prediction.basis = InstructionBasis::kKernel;
    prediction.runs = static_cast<std::int64_t>(own.count);
    prediction.exponent = slope;
    return prediction;
}

Result<InstructionPrediction> InstructionModel::predict(std::string_view application, std::string_view kernel,
                                                        double input_size) const
{
    if (!(input_size >= 1 / kMaxInputSize && input_size <= kMaxInputSize))
        return Error{Errc::kInvalid, "input_size must be above 0"};
    if (run_count_ == 0) return Error{Errc::kInfeasible, "no run was learned yet"};
    Evidence evidence{nullptr, nullptr, &all_};
    if (const auto known = applications_.find(application); known != applications_.end()) {
        evidence.application = &known->second.group;
        const auto same = known->second.kernels.find(kernel);
        if (same != known->second.kernels.end()) evidence.kernel = &same->second.sums;
    }
    return predict_from(evidence, portable::log(input_size));
}

std::optional<InstructionErrors> InstructionModel::cross_validate() const
{
    std::vector<double> off;
    std::size_t in_interval = 0;
    for (const auto& [name, application] : applications_) {
        for (const auto& [kernel_name, kernel] : application.kernels) {
            if (kernel.points.size() < 2) continue;
            for (const Point& point : kernel.points) {
                Sums rest = kernel.sums;
                rest.add(point, -1);
                Group group = application.group;
                Group all = all_;
                replace(group, kernel.sums, rest);
                replace(all, kernel.sums, rest);
                const InstructionPrediction predicted = predict_from({&rest, &group, &all}, point.x);
                const double actual = portable::exp(point.y);
                off.push_back(std::abs(predicted.instructions / actual - 1));
                if (actual >= predicted.low && actual <= predicted.high) ++in_interval;
            }
        }
    }
    if (off.empty()) return std::nullopt;
    std::sort(off.begin(), off.end());
    return InstructionErrors{static_cast<std::int64_t>(off.size()), quantile(off, 0.5), quantile(off, 0.9),
                             static_cast<double>(in_interval) / static_cast<double>(off.size())};
}

} // namespace fathom
