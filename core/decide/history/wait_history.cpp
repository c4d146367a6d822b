#include "core/decide/history/wait_history.hpp"

#include "core/decide/statistics/sample_statistics.hpp"
#include "core/model/type_queue.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kPriorStarts = 8;
/// What starts are taken to do before any was seen: an agent's order takes its moment, and waits end with jobs whose
/// run times are predicted to about half.
constexpr WaitModel kPriorModel{.extra_s = {0, 0.5, 3}, .ratio = {0.5, 1, 1.5}};

struct Starts {
    std::vector<double> extra_s;
    std::vector<double> ratios;
};

/// The value that one more start would be below with `fraction`: at fraction × (n + 1) of n in order. With fewer than
/// nine the limits are the least and the largest.
double next_quantile(std::span<const double> sorted, double fraction)
{
    const auto count = static_cast<double>(sorted.size());
    if (sorted.size() < 2) return sorted.front();
    return quantile(sorted, std::clamp((fraction * (count + 1) - 1) / (count - 1), 0.0, 1.0));
}

WaitQuantiles shrunk(std::vector<double> values, const WaitQuantiles& parent)
{
    if (values.empty()) return parent;
    std::sort(values.begin(), values.end());
    const double share = static_cast<double>(values.size()) / (static_cast<double>(values.size()) + kPriorStarts);
    const auto between = [&](double fraction, double other) {
        return share * next_quantile(values, fraction) + (1 - share) * other;
    };
    return {between(0.1, parent.low), between(0.5, parent.middle), between(0.9, parent.high)};
}

WaitModel shrunk(Starts starts, const WaitModel& parent)
{
    return {shrunk(std::move(starts.extra_s), parent.extra_s), shrunk(std::move(starts.ratios), parent.ratio)};
}

WaitTime expect_by(const WaitModel& known, double expected_s, double queued_s)
{
    const double free_s = std::max({expected_s, queued_s, 0.0});
    if (std::isinf(free_s)) return {free_s, free_s, free_s};
    if (free_s > kAtOnce_s) return {free_s * known.ratio.middle, free_s * known.ratio.low, free_s * known.ratio.high};
    const auto after = [free_s](double extra_s) { return std::max(free_s + extra_s, 0.0); };
    return {after(known.extra_s.middle), after(known.extra_s.low), after(known.extra_s.high)};
}

} // namespace

WaitHistory::WaitHistory(std::span<const PastWait> waits)
{
    Starts all;
    std::map<std::string, Starts> by_unit_type;
    for (const PastWait& wait : waits) {
        if (!std::isfinite(wait.expected_s) || !std::isfinite(wait.actual_s)) continue;
        if (wait.expected_s < 0 || wait.actual_s < 0) continue;
        const bool is_at_once = wait.expected_s <= kAtOnce_s;
        const double value = is_at_once ? wait.actual_s - wait.expected_s : wait.actual_s / wait.expected_s;
        for (Starts* starts : {&all, &by_unit_type[wait.unit_type]})
            (is_at_once ? starts->extra_s : starts->ratios).push_back(value);
    }
    if (by_unit_type.empty()) return;
    common_ = shrunk(std::move(all), kPriorModel);
    for (auto& [unit_type, starts] : by_unit_type)
        by_unit_type_.emplace(unit_type, shrunk(std::move(starts), common_));
}

WaitHistory WaitHistory::from(std::map<std::string, WaitModel, std::less<>> by_unit_type, const WaitModel& common)
{
    WaitHistory history;
    history.common_ = common;
    history.by_unit_type_ = std::move(by_unit_type);
    return history;
}

const WaitModel& WaitHistory::model(std::string_view unit_type) const
{
    const auto found = by_unit_type_.find(unit_type);
    return found == by_unit_type_.end() ? common_ : found->second;
}

WaitTime WaitHistory::expect(std::string_view unit_type, double expected_s, double queued_s) const
{
    return expect_by(model(unit_type), expected_s, queued_s);
}

LeastWait WaitHistory::least_wait(std::string_view unit_type, double expected_s, double queued_s) const
{
    const WaitModel& known = model(unit_type);
    LeastWait least{.wait_s = expect_by(known, expected_s, queued_s).wait_s,
                    .from_s = std::max({expected_s, queued_s, kAtOnce_s}),
                    .growth = std::clamp(known.ratio.middle, 0.0, 1.0)};
    if (!(std::max(expected_s, queued_s) > kAtOnce_s))
        least.wait_s = std::min(least.wait_s, kAtOnce_s * known.ratio.middle); // where another rule begins
    return least;
}

double WaitHistory::most_wait_s(std::string_view unit_type, double expected_s, double queued_s) const
{
    const WaitModel& known = model(unit_type);
    const double at_once_s = std::max(kAtOnce_s + known.extra_s.middle, 0.0); // by the rule of short waits
    return std::max(at_once_s, std::max(expected_s, queued_s) * known.ratio.middle);
}

} // namespace fathom
