#include "simulator/world/scenario.hpp"

#include "core/decide/capacity/network_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fathom::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kHourS = 3600;
constexpr std::int64_t kHoursOfWeek = 168;
constexpr std::chrono::sys_days kBeginning{std::chrono::year{1970} / 1 / 5}; // a Monday

double speedup_of(const UnitTypeRate& rate, std::int64_t unit_count)
{
    const auto count = static_cast<double>(unit_count);
    const std::vector<CountSpeedup>& table = rate.speedups;
    if (table.empty()) return count;
    const auto above = std::find_if(table.begin(), table.end(),
                                    [&](const CountSpeedup& point) { return point.unit_count >= unit_count; });
    if (above == table.end()) return table.back().speedup;
    const CountSpeedup below = above == table.begin() ? CountSpeedup{} : *std::prev(above);
    const auto span = static_cast<double>(above->unit_count - below.unit_count);
    if (span <= 0) return above->speedup;
    return below.speedup + (above->speedup - below.speedup) * (count - static_cast<double>(below.unit_count)) / span;
}

} // namespace

Timestamp moment_of(double at_s)
{
    return Timestamp(kBeginning) + std::chrono::duration_cast<Timestamp::duration>(Seconds(at_s));
}

double true_transfer_s(const Center& center, double at_s, double size_bytes)
{
    if (!(size_bytes > 0)) return 0;
    const double week_bytes =
        kHourS * std::accumulate(center.network_rate_bytes.begin(), center.network_rate_bytes.end(), 0.0);
    if (!(week_bytes > 0)) return 0;
    const double whole_weeks = std::max(std::ceil(size_bytes / week_bytes) - 1, 0.0);
    double left_bytes = size_bytes - whole_weeks * week_bytes;
    const double began_s = at_s - whole_weeks * (kHourS * kHoursOfWeek); // so long ago, it would be as far now
    double now_s = at_s;
    for (auto hour = static_cast<std::int64_t>(std::floor(at_s / kHourS));; ++hour) {
        const double rate = center.network_rate_bytes[static_cast<std::size_t>(hour % kHoursOfWeek)];
        const double until_s = static_cast<double>(hour + 1) * kHourS;
        if (rate > 0 && rate * (until_s - now_s) >= left_bytes) return now_s + left_bytes / rate - began_s;
        left_bytes -= rate * (until_s - now_s);
        now_s = until_s;
    }
}

double open_for_s(const Center& center, double at_s)
{
    double open_s = kNever;
    for (const Closure& closure : center.closures) {
        if (closure.to_s > at_s) open_s = std::min(open_s, std::max(closure.from_s - at_s, 0.0));
    }
    return open_s;
}

double true_run_s(const Network& network, const Job& job, std::size_t unit_type, std::int64_t unit_count, double drift)
{
    const UnitTypeRate& rate = network.unit_types[unit_type].rates[job.job_type];
    if (!(rate.rate > 0)) return kNever;
    const double single_s = job.work / (rate.rate * drift);
    switch (network.job_types[job.job_type].scaling) {
    case Scaling::kFixed:
        return single_s;
    case Scaling::kLinear:
        return single_s / static_cast<double>(unit_count);
    case Scaling::kTable:
        return single_s / speedup_of(rate, unit_count);
    }
    return kNever;
}

bool fits(const Scenario& scenario, const Job& job, std::size_t unit_type)
{
    const UnitType& type = scenario.network.unit_types[unit_type];
    if (job.unit_count > type.unit_count || !(type.rates[job.job_type].rate > 0)) return false;
    const JobDetails& details = scenario.workload.details[job.details];
    if (details.center && *details.center != type.center) return false;
    return details.unit_types.empty() ||
           std::find(details.unit_types.begin(), details.unit_types.end(), unit_type) != details.unit_types.end();
}

} // namespace fathom::simulation
