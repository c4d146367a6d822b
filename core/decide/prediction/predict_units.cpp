#include "core/decide/prediction/predict_units.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/measurement/operator_size.hpp"

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

/// Every count up to a thousand, then in steps of a per mille.
std::int64_t next_count(std::int64_t n)
{
    return n + std::max<std::int64_t>(1, n / kSearchedCounts);
}

Speedup saved_by(const Speedup& speedup)
{
    return {1 - 1 / speedup.factor, 1 - 1 / speedup.low, 1 - 1 / speedup.high};
}

double between(double low, double high, double share)
{
    return low + (high - low) * share;
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
        if (!curve.half_interval && n > curve.largest_measured()) {
            // Too few points to judge the model by: from the last one on it may stand still, or go on undiminished.
            const double last = curve.points.back().rate;
            rate.low = std::min(rate.rate, last);
            rate.high = std::max(rate.rate, last * n / curve.largest_measured());
        }
        speedups_.push_back({rate.rate / single, rate.low / single, rate.high / single});
    }
    speedups_.front() = {};
    for (std::size_t i = 0; i < speedups_.size() && counts_[i] <= kDenseCounts && counts_[i] < counts_.back(); ++i)
        saved_.push_back(saved_by(speedups_[i]));
    for (std::size_t i = 0; i < speedups_.size(); ++i) {
        const double factor = speedups_[i].factor;
        most_saved_ = std::max(most_saved_, 1 - 1 / factor);
        // Between two counts S is at most that of the one above, or of the one below.
        const std::int64_t fewest = counts_[i] <= kDenseCounts ? counts_[i] : counts_[i - 1];
        best_efficiency_ = std::max(best_efficiency_, factor / static_cast<double>(fewest));
    }
}

Speedup OperatorSpeedup::saved(std::int64_t unit_count) const
{
    const auto index = static_cast<std::size_t>(unit_count - 1);
    return index < saved_.size() ? saved_[index] : saved_by(at(unit_count));
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
    // The first counts follow each other, so that their place is known.
    if (unit_count <= kDenseCounts) return speedups_[static_cast<std::size_t>(unit_count - 1)];
    const auto above = std::upper_bound(counts_.begin(), counts_.end(), unit_count);
    const auto index = static_cast<std::size_t>(above - counts_.begin()) - 1;
    const double share =
        static_cast<double>(unit_count - counts_[index]) / static_cast<double>(*above - counts_[index]);
    const Speedup& from = speedups_[index];
    const Speedup& to = speedups_[index + 1];
    return {between(from.factor, to.factor, share), between(from.low, to.low, share),
            between(from.high, to.high, share)};
}

const OperatorSpeedup* find_speedup(const UnitSpeedups* known, std::string_view operator_id,
                                    std::string_view parameters_key, double work)
{
    if (known == nullptr) return nullptr;
    const OperatorSpeedup* nearest = nullptr;
    double least = HUGE_VAL;
    const auto first =
        std::lower_bound(known->begin(), known->end(), operator_id, [](const auto& candidate, std::string_view id) {
            return std::string_view(candidate->operator_id()) < id;
        });
    for (auto one = first; one != known->end() && (*one)->operator_id() == operator_id; ++one) {
        const std::shared_ptr<const OperatorSpeedup>& candidate = *one;
        if (candidate->parameters_key() == parameters_key) return candidate.get();
        const double distance = std::abs(portable::log(candidate->work() / work));
        if (distance >= least) continue;
        nearest = candidate.get();
        least = distance;
    }
    return nearest;
}

DividedRun::DividedRun(const RunTime& single, std::span<const ScaledPart> parts) : single_(single), parts_(parts)
{
    for (const ScaledPart& part : parts_) {
        if (part.curve != nullptr && part.total_s > 0)
            largest_known_ = std::max(largest_known_, part.curve->largest_known());
    }
}

DividedRun::DividedRun(const RunByCount& by_count)
    : single_(by_count.at(1)), by_count_(&by_count), largest_known_(by_count.largest_known())
{
}

RunTime DividedRun::at(std::int64_t unit_count) const
{
    if (by_count_ != nullptr) return by_count_->at(unit_count);
    if (unit_count == 1 || single_.run_s <= 0) return single_;
    double run_s = single_.run_s;
    double fast_s = single_.run_s;
    double slow_s = single_.run_s;
    for (const ScaledPart& part : parts_) {
        const Speedup saved =
            part.curve != nullptr ? part.curve->saved(unit_count) : saved_by({1, 1, static_cast<double>(unit_count)});
        run_s -= part.total_s * saved.factor;
        fast_s -= part.total_s * saved.high;
        slow_s -= part.total_s * saved.low;
    }
    // Sums of rounded parts may miss zero by a rounding.
    const auto stretched = [this](double time_s) { return std::max(time_s, 0.0) / single_.run_s; };
    return {std::max(run_s, 0.0), single_.low_s * stretched(fast_s), single_.high_s * stretched(slow_s)};
}

double DividedRun::run_s(std::int64_t unit_count) const
{
    if (by_count_ != nullptr) return by_count_->at(unit_count).run_s;
    if (unit_count == 1 || single_.run_s <= 0) return single_.run_s;
    double run_s = single_.run_s;
    for (const ScaledPart& part : parts_) {
        if (part.curve != nullptr) run_s -= part.total_s * part.curve->saved(unit_count).factor;
    }
    return std::max(run_s, 0.0);
}

double DividedRun::speedup(std::int64_t unit_count) const
{
    const double time_s = run_s(unit_count);
    return time_s > 0 ? single_.run_s / time_s : 1;
}

std::int64_t DividedRun::knee(std::int64_t most) const
{
    std::int64_t best = 1;
    double largest = 1;
    const std::int64_t last = std::min(most, largest_known_);
    for (std::int64_t n = 2; n <= last; n = next_count(n)) {
        const double factor = speedup(n);
        const double power = factor * factor / static_cast<double>(n);
        if (power <= largest * (1 + 1e-9)) continue;
        best = n;
        largest = power;
    }
    return best;
}

ScaledRun::ScaledRun(const RunPrediction& single, std::span<const OperatorDemand> demands, const UnitSpeedups* speedups)
    : single_(&single)
{
    for (const OperatorPrediction& one : single.operators) {
        const auto demand = std::find_if(demands.begin(), demands.end(), [&](const OperatorDemand& candidate) {
            return candidate.operator_id == one.operator_id && candidate.parameters_key == one.parameters_key;
        });
        const double work = demand == demands.end() ? 1 : size_work(demand->operations, demand->bytes);
        parts_.push_back({one.total_s, find_speedup(speedups, one.operator_id, one.parameters_key, work), nullptr});
    }
}

std::vector<std::string> ScaledRun::assumptions(std::int64_t unit_count) const
{
    std::vector<std::string> texts;
    if (unit_count == 1) return texts;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const ScaledPart& part = parts_[i];
        const OperatorPrediction& one = single_->operators[i];
        if (one.total_s <= 0) continue;
        const std::string name = one.operator_id + "(" + one.parameters_key + ")";
        if (part.curve == nullptr) {
            texts.push_back("how " + name + " scales over units is not measured: its time is not divided");
            continue;
        }
        if (part.curve->parameters_key() != one.parameters_key)
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
    for (std::int64_t n = least; n <= most; n = next_count(n))
        counts.push_back(n);
    return counts;
}

} // namespace fathom
