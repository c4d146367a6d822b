#include "core/decide/predict_units.hpp"

#include "core/decide/operator_size.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Tables hold every count up to this, then counts a hundredth apart: curves are smooth.
constexpr std::int64_t kDenseCounts = 64;
constexpr std::int64_t kSearchedCounts = 1000;

std::vector<std::int64_t> tabulated_counts(std::int64_t most)
{
    std::vector<std::int64_t> counts;
    for (std::int64_t n = 1; n < most; n += n < kDenseCounts ? 1 : std::max<std::int64_t>(1, n / 100))
        counts.push_back(n);
    counts.push_back(most);
    return counts;
}

double between(double low, double high, double share)
{
    return low + (high - low) * share;
}

bool is_of_operator(const std::shared_ptr<const OperatorSpeedup>& speedup, const std::string& operator_id)
{
    return speedup->operator_id() == operator_id;
}

/// The curve of this very size, else of the size nearest in work, the first of equals; nullptr: none.
const OperatorSpeedup* find_curve(const UnitSpeedups& known, const OperatorPrediction& one, double work)
{
    const OperatorSpeedup* nearest = nullptr;
    for (const std::shared_ptr<const OperatorSpeedup>& candidate : known) {
        if (!is_of_operator(candidate, one.operator_id)) continue;
        if (candidate->parameters_key() == one.parameters_key) return candidate.get();
        const auto distance = [work](const OperatorSpeedup& of) { return std::abs(std::log(of.work() / work)); };
        if (nearest == nullptr || distance(*candidate) < distance(*nearest)) nearest = candidate.get();
    }
    return nearest;
}

} // namespace

OperatorSpeedup::OperatorSpeedup(std::string operator_id, std::string parameters_key, double work,
                                 const ScalingCurve& curve)
    : operator_id_(std::move(operator_id)), parameters_key_(std::move(parameters_key)), work_(std::max(work, 1.0)),
      points_(curve.points), counts_(tabulated_counts(largest_known()))
{
    const double single = curve.single_rate();
    for (const std::int64_t count : counts_) {
        const auto n = static_cast<double>(count);
        RateEstimate rate = curve.rate(n);
        if (curve.left_out.empty() && n > curve.largest_measured()) {
            // Too few points to judge the model by: from the last one on it may stand still, or go on undiminished.
            const double last = curve.points.back().rate;
            rate.low = std::min(rate.rate, last);
            rate.high = std::max(rate.rate, last * n / curve.largest_measured());
        }
        speedups_.push_back({rate.rate / single, rate.low / single, rate.high / single});
    }
    speedups_.front() = {};
}

std::int64_t OperatorSpeedup::largest_measured() const
{
    return static_cast<std::int64_t>(points_.back().unit_count);
}

Speedup OperatorSpeedup::at(std::int64_t unit_count) const
{
    FATHOM_ASSERT(unit_count >= 1);
    if (unit_count >= counts_.back()) {
        Speedup speedup = speedups_.back();
        speedup.high *= static_cast<double>(unit_count) / static_cast<double>(counts_.back());
        return speedup;
    }
    const auto above = std::upper_bound(counts_.begin(), counts_.end(), unit_count);
    const auto index = static_cast<std::size_t>(above - counts_.begin()) - 1;
    const double share =
        static_cast<double>(unit_count - counts_[index]) / static_cast<double>(*above - counts_[index]);
    const Speedup& from = speedups_[index];
    const Speedup& to = speedups_[index + 1];
    return {between(from.factor, to.factor, share), between(from.low, to.low, share),
            between(from.high, to.high, share)};
}

ScaledRun::ScaledRun(const RunPrediction& single, std::span<const OperatorDemand> demands, const UnitSpeedups* speedups)
    : single_(&single)
{
    for (const OperatorPrediction& one : single.operators) {
        Part part{&one};
        if (speedups != nullptr) {
            const auto demand = std::find_if(demands.begin(), demands.end(), [&](const OperatorDemand& candidate) {
                return candidate.operator_id == one.operator_id && candidate.parameters_key == one.parameters_key;
            });
            part.curve =
                find_curve(*speedups, one, demand == demands.end() ? 1 : size_work(demand->operations, demand->bytes));
        }
        if (part.curve != nullptr) {
            part.is_other_size = part.curve->parameters_key() != one.parameters_key;
            if (one.total_s > 0) largest_known_ = std::max(largest_known_, part.curve->largest_known());
        }
        parts_.push_back(part);
    }
}

RunTime ScaledRun::at(std::int64_t unit_count) const
{
    const RunPrediction& single = *single_;
    if (unit_count == 1 || single.run_s <= 0) return {single.run_s, single.low_s, single.high_s};
    double run_s = single.run_s;
    double fast_s = single.run_s;
    double slow_s = single.run_s;
    for (const Part& part : parts_) {
        Speedup speedup{1, 1, static_cast<double>(unit_count)};
        if (part.curve != nullptr) speedup = part.curve->at(unit_count);
        const double total_s = part.prediction->total_s;
        run_s -= total_s * (1 - 1 / speedup.factor);
        fast_s -= total_s * (1 - 1 / speedup.high);
        slow_s -= total_s * (1 - 1 / speedup.low);
    }
    // Sums of rounded parts may miss zero by a rounding.
    const auto stretched = [&](double time_s) { return std::max(time_s, 0.0) / single.run_s; };
    return {std::max(run_s, 0.0), single.low_s * stretched(fast_s), single.high_s * stretched(slow_s)};
}

double ScaledRun::speedup(std::int64_t unit_count) const
{
    const double run_s = at(unit_count).run_s;
    return run_s > 0 ? single_->run_s / run_s : 1;
}

std::int64_t ScaledRun::knee(std::int64_t most) const
{
    const auto power = [this](std::int64_t n) {
        const double factor = speedup(n);
        return factor * factor / static_cast<double>(n);
    };
    std::int64_t best = 1;
    double largest = power(1);
    for (const std::int64_t n : counts_between(2, std::min(most, largest_known_))) {
        const double value = power(n);
        if (value <= largest * (1 + 1e-9)) continue;
        best = n;
        largest = value;
    }
    return best;
}

std::vector<std::string> ScaledRun::assumptions(std::int64_t unit_count) const
{
    std::vector<std::string> texts;
    if (unit_count == 1) return texts;
    for (const Part& part : parts_) {
        const OperatorPrediction& one = *part.prediction;
        if (one.total_s <= 0) continue;
        const std::string name = one.operator_id + "(" + one.parameters_key + ")";
        if (part.curve == nullptr) {
            texts.push_back("how " + name + " scales over units is not measured: its time is not divided");
            continue;
        }
        if (part.is_other_size)
            texts.push_back(name + " is taken to scale as " + one.operator_id + "(" + part.curve->parameters_key() +
                            ")");
        if (unit_count > part.curve->largest_known())
            texts.push_back(name + " is measured on up to " + std::to_string(part.curve->largest_measured()) +
                            " units: beyond " + std::to_string(part.curve->largest_known()) +
                            " no further speed-up is assumed");
        else if (unit_count > part.curve->largest_measured())
            texts.push_back(name + " is measured on up to " + std::to_string(part.curve->largest_measured()) +
                            " units: its speed-up on more is that of the curve");
    }
    return texts;
}

std::vector<std::int64_t> counts_between(std::int64_t least, std::int64_t most)
{
    std::vector<std::int64_t> counts;
    for (std::int64_t n = least; n <= most; n += std::max<std::int64_t>(1, n / kSearchedCounts))
        counts.push_back(n);
    return counts;
}

} // namespace fathom
