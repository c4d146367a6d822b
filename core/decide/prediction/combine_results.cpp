#include "core/decide/prediction/combine_results.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Between results of the same unit type that nothing has happened to, until they tell: of ln(time).
constexpr double kUsualResultDeviation = 0.05;
constexpr double kUsualResultWeight = 2; ///< results that this assumption counts as
constexpr double kNextResultWidth = 1.96;
constexpr double kChangeDeviations = 3;
constexpr double kMinResult_s = 1e-12;

/// ResultLogs as logarithms, one after the other.
class ResultLogs {
  public:
    void add(const MeasuredOperator& measured)
    {
        const double value = log_of(measured);
        const double off = value - mean_;
        ++count_;
        mean_ += off / count_;
        squares_ += off * (value - mean_);
        within_ += portable::square(deviation_of(measured));
    }

    /// Whether chance alone would put an older result so far away.
    bool fits(const MeasuredOperator& older) const
    {
        const double between = (squares_ + kUsualResultWeight * portable::square(kUsualResultDeviation)) /
                               (count_ - 1 + kUsualResultWeight);
        const double own = portable::square(deviation_of(older));
        const double variance = between * (1 + 1 / count_) + within_ / portable::square(count_) + own;
        return portable::square(log_of(older) - mean_) <= portable::square(kChangeDeviations) * variance;
    }

    double mean() const { return mean_; }
    double count() const { return count_; }
    /// Of the next result about the mean.
    double deviation() const
    {
        const double between = squares_ / (count_ - 1) * (1 + 1 / count_);
        return std::sqrt(between + within_ / count_);
    }

  private:
    static double log_of(const MeasuredOperator& measured)
    {
        return portable::log(std::max(measured.median_s, kMinResult_s));
    }

    double count_ = 0;
    double mean_ = 0;
    double squares_ = 0; ///< of the differences from the mean
    double within_ = 0;  ///< sum of the variances of the medians
};

/// Of two that disagree it cannot be told yet whether the unit type has changed or one of them met a bad moment.
void hold_both(MeasuredOperator& newest, const MeasuredOperator& older)
{
    newest.ci_low_s = std::min(newest.ci_low_s, older.median_s);
    newest.ci_high_s = std::max(newest.ci_high_s, older.median_s);
}

} // namespace

MeasuredOperator combine_results(std::span<const MeasuredOperator> newest_first)
{
    FATHOM_ASSERT(!newest_first.empty());
    MeasuredOperator combined = newest_first.front();
    ResultLogs results;
    for (const MeasuredOperator& one : newest_first.first(std::min(newest_first.size(), kMaxResults))) {
        if (results.count() > 0 && !results.fits(one)) break;
        results.add(one);
        if (results.count() > 1) combined.older_run_ids.push_back(one.probe_run_id);
    }
    if (results.count() < 2) {
        if (newest_first.size() > 1) hold_both(combined, newest_first[1]);
        return combined;
    }
    const double width = kNextResultWidth * results.deviation();
    combined.median_s = portable::exp(results.mean());
    combined.ci_low_s = portable::exp(results.mean() - width);
    combined.ci_high_s = portable::exp(results.mean() + width);
    return combined;
}

std::vector<std::string> run_ids_of(const MeasuredOperator& measured)
{
    std::vector<std::string> ids{measured.probe_run_id};
    ids.insert(ids.end(), measured.older_run_ids.begin(), measured.older_run_ids.end());
    return ids;
}

} // namespace fathom
