#include "cli/simulate/outcome_summary.hpp"

#include "core/decide/sample_statistics.hpp"

#include <algorithm>
#include <limits>

namespace fathom {
namespace {

constexpr double kShortestThatCounts_s = 10;

double shortest_run_s(const SimulatedJob& job)
{
    double shortest_s = std::numeric_limits<double>::infinity();
    for (const SimulatedOption& option : job.options)
        shortest_s = std::min(shortest_s, option.run_s);
    return shortest_s;
}

} // namespace

OutcomeSummary summarize_outcomes(const SimulatedWorld& world, const SimulationResult& result)
{
    OutcomeSummary summary;
    std::vector<double> completions;
    for (std::size_t job = world.first_counted; job < world.end_counted; ++job) {
        const double completion_s = result.outcomes[job].end_s - world.jobs[job].arrival_s;
        completions.push_back(completion_s);
        summary.mean_completion_s += completion_s / static_cast<double>(world.end_counted - world.first_counted);
        summary.longest_wait_s =
            std::max(summary.longest_wait_s, result.outcomes[job].start_s - world.jobs[job].arrival_s);
        summary.most_slowdown = std::max(
            summary.most_slowdown, completion_s / std::max(shortest_run_s(world.jobs[job]), kShortestThatCounts_s));
    }
    std::sort(completions.begin(), completions.end());
    summary.p95_completion_s = quantile(completions, 0.95);
    const double span_s = world.jobs[world.end_counted - 1].arrival_s - world.jobs[world.first_counted].arrival_s;
    double busy_unit_s = 0;
    double unit_s = 0;
    for (std::size_t type = 0; type < world.unit_types.size(); ++type) {
        busy_unit_s += result.busy_unit_s[type];
        unit_s += span_s * static_cast<double>(world.unit_types[type].unit_count);
    }
    summary.utilization = unit_s > 0 ? busy_unit_s / unit_s : 0;
    return summary;
}

} // namespace fathom
