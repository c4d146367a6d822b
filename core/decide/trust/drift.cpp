#include "core/decide/trust/drift.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_erfc.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "core/decide/trust/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Left to chance, over all unit types and counts of jobs that are looked at.
constexpr double kChance = 0.01;

/// Of the newest jobs, so many times `least_jobs` are looked at: few find a jump early, many a creep.
constexpr std::array<std::size_t, 3> kWindows{1, 2, 4};

/// Runs of a type before, at most; and the fewest that say how it went.
constexpr std::size_t kMaxBefore = 50;
constexpr std::size_t kMinBefore = 5;

/// Of other unit types, so many runs of a type each say how it goes lately.
constexpr std::size_t kMaxLately = 20;
/// Of what that makes in a large network, evenly by size at least so many are kept: a median of more is no better.
constexpr std::size_t kMinKept = 500;

/// How differently predictions of one job type may be wrong on different unit types of an honest network: exp(2.6 ×
/// 0.2), with the deviation that judge_trust() begins with.
constexpr double kBetweenUnitTypes = 1.7;

struct Run {
    Timestamp ended_at{};
    double value{}; ///< ln(actual / predicted)
    std::string job_type;
};

using Runs = std::vector<Run>; // newest first
using RunsByUnitType = std::map<std::string, Runs>;
using Values = std::vector<double>;

/// How a job type goes lately, here and there.
class Lately {
  public:
    void add(std::string_view unit_type, double value) { values_.emplace_back(value, unit_type); }
    void thin_out()
    {
        std::sort(values_.begin(), values_.end());
        const std::size_t step = std::max<std::size_t>(values_.size() / kMinKept, 1);
        std::size_t kept = 0;
        for (std::size_t i = step / 2; i < values_.size(); i += step)
            values_[kept++] = values_[i];
        values_.resize(kept);
    }
    Values on_others_than(std::string_view unit_type) const
    {
        Values values;
        for (const auto& [value, where] : values_)
            if (where != unit_type) values.push_back(value);
        return values;
    }

  private:
    std::vector<std::pair<double, std::string_view>> values_;
};

struct LatelyOfType {
    Lately runs;
    Lately medians; ///< of each unit type
};

struct History {
    RunsByUnitType by_unit_type;
    std::map<std::string_view, LatelyOfType> lately; ///< by job type; its texts are those of by_unit_type
};

RunsByUnitType arrange(std::span<const TimedResidual> residuals)
{
    RunsByUnitType runs;
    for (const TimedResidual& one : residuals) {
        const RunResidual& residual = one.residual;
        if (!(residual.predicted_s > 0) || !(residual.actual_s > 0)) continue;
        const double value = portable::log(residual.actual_s / residual.predicted_s);
        if (std::isfinite(value)) runs[residual.unit_type].push_back({one.ended_at, value, residual.job_type});
    }
    for (auto& [unit_type, of_it] : runs) {
        std::sort(of_it.begin(), of_it.end(), [](const Run& left, const Run& right) {
            return std::tie(right.ended_at, right.job_type, right.value) <
                   std::tie(left.ended_at, left.job_type, left.value);
        });
    }
    return runs;
}

History gather(std::span<const TimedResidual> residuals)
{
    History history{arrange(residuals), {}};
    for (const auto& [unit_type, runs] : history.by_unit_type) {
        std::map<std::string_view, Values> newest;
        for (const Run& run : runs) {
            Values& values = newest[run.job_type];
            if (values.size() < kMaxLately) values.push_back(run.value);
        }
        for (auto& [job_type, values] : newest) {
            LatelyOfType& lately = history.lately[job_type];
            for (const double value : values)
                lately.runs.add(unit_type, value);
            lately.medians.add(unit_type, median(std::move(values)));
        }
    }
    for (auto& [job_type, lately] : history.lately) {
        lately.runs.thin_out();
        lately.medians.thin_out();
    }
    return history;
}

/// The values of a job type among `runs` from `first` on, at most `most`.
Values values_of(const Runs& runs, const std::string& job_type, std::size_t first, std::size_t most)
{
    Values values;
    for (std::size_t i = first; i < runs.size() && values.size() < most; ++i)
        if (runs[i].job_type == job_type) values.push_back(runs[i].value);
    return values;
}

/// Late runs of one job type, and what they are held against.
struct Stratum {
    Values late;
    Values reference;
    double margin{};             ///< the reference may differ by so much, either way, all the same
    std::optional<double> usual; ///< how the type goes on other unit types lately
};

/// The rank-sum statistic of some strata together: its standard score, positive when the late runs are the longer ones.
class RankSum {
  public:
    /// @param shift  added to the reference before the comparison.
    void add(const Stratum& stratum, double shift)
    {
        const auto late = static_cast<double>(stratum.late.size());
        const auto before = static_cast<double>(stratum.reference.size());
        double wins = 0; // Mann and Whitney's U; ties count half
        for (const double value : stratum.late) {
            for (const double other : stratum.reference) {
                const double difference = value - other - shift;
                wins += difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
            }
        }
        excess_ += wins - late * before / 2;
        variance_ += late * before * (late + before + 1) / 12;
    }
    double score() const { return variance_ > 0 ? excess_ / std::sqrt(variance_) : 0; }

  private:
    double excess_{};
    double variance_{};
};

/// Two-sided, of a normal distribution.
double chance_of(double score)
{
    return portable::erfc(std::abs(score) / std::sqrt(2.0));
}

/// Median of all differences of a late run and one of its reference.
double shift_of(const std::vector<Stratum>& strata)
{
    Values differences;
    for (const Stratum& stratum : strata) {
        for (const double value : stratum.late) {
            for (const double other : stratum.reference)
                differences.push_back(value - other);
        }
    }
    return median(std::move(differences));
}

/// Of those strata that other unit types can be compared with: the median difference from how the types go there.
std::optional<double> difference_to_others(const std::vector<Stratum>& strata)
{
    Values differences;
    for (const Stratum& stratum : strata) {
        if (!stratum.usual) continue;
        for (const double value : stratum.late)
            differences.push_back(value - *stratum.usual);
    }
    if (differences.empty()) return std::nullopt;
    return median(std::move(differences));
}

/// The newest `late` runs of a unit type, job type by job type; types that nothing can be held against are left out.
std::vector<Stratum> stratify(const History& all, const std::string& unit_type, std::size_t late)
{
    const Runs& runs = all.by_unit_type.at(unit_type);
    const Runs newest(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(late));
    std::map<std::string, Stratum> strata;
    for (const Run& run : newest)
        strata[run.job_type].late.push_back(run.value);
    std::vector<Stratum> found;
    for (auto& [job_type, stratum] : strata) {
        const LatelyOfType& lately = all.lately.at(job_type);
        Values medians = lately.medians.on_others_than(unit_type);
        if (!medians.empty()) stratum.usual = median(std::move(medians));
        stratum.reference = values_of(runs, job_type, late, kMaxBefore);
        if (stratum.reference.size() < kMinBefore) {
            stratum.reference = lately.runs.on_others_than(unit_type);
            stratum.margin = portable::log(kBetweenUnitTypes);
        }
        if (stratum.reference.size() >= kMinBefore) found.push_back(std::move(stratum));
    }
    return found;
}

/// The drift that the newest `late` runs of a unit type show, if any, with `chance` left to chance.
std::optional<Drift> test_window(const History& all, const std::string& unit_type, std::size_t late, double least_shift,
                                 double chance)
{
    const std::vector<Stratum> strata = stratify(all, unit_type, late);
    if (strata.empty()) return std::nullopt;
    const double shift = shift_of(strata);
    if (std::abs(shift) <= least_shift) return std::nullopt;
    const double way = shift > 0 ? 1 : -1;
    RankSum ranks;
    std::int64_t jobs = 0;
    for (const Stratum& stratum : strata) {
        ranks.add(stratum, way * stratum.margin);
        jobs += static_cast<std::int64_t>(stratum.late.size());
    }
    if (ranks.score() * way <= 0 || chance_of(ranks.score()) >= chance) return std::nullopt;
    const std::optional<double> to_others = difference_to_others(strata);
    if (to_others && *to_others * way <= least_shift) return std::nullopt;
    Drift drift{.unit_type = unit_type, .ratio = portable::exp(shift), .job_count = jobs, .reason = {}};
    drift.reason = fmt::format("its newest {} jobs took {:.2f} times what jobs of their types took there before, held "
                               "against what was predicted",
                               jobs, drift.ratio);
    return drift;
}

} // namespace

std::vector<Drift> find_drift(std::span<const TimedResidual> residuals,
                              const std::map<std::string, Timestamp>& measured_at, std::int64_t least_jobs,
                              double threshold)
{
    const History all = gather(residuals);
    const auto least = static_cast<std::size_t>(std::max<std::int64_t>(least_jobs, 1));
    std::map<std::string, std::size_t> late_counts; // of unit types with enough jobs since they were measured
    for (const auto& [unit_type, runs] : all.by_unit_type) {
        const auto measured = measured_at.find(unit_type);
        if (measured == measured_at.end()) continue;
        const auto is_late = [&](const Run& run) { return run.ended_at > measured->second; };
        const auto late = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), is_late));
        if (late >= least) late_counts[unit_type] = late;
    }
    const double chance = kChance / static_cast<double>(late_counts.size() * kWindows.size());
    std::vector<Drift> drifts;
    for (const auto& [unit_type, late] : late_counts) {
        for (const std::size_t times : kWindows) {
            if (times * least > late) break;
            std::optional<Drift> drift = test_window(all, unit_type, times * least, portable::log(threshold), chance);
            if (!drift) continue;
            drifts.push_back(std::move(*drift));
            break;
        }
    }
    return drifts;
}

} // namespace fathom
