#include "simulator/corun/corun_figures.hpp"

#include "core/decide/statistics/sample_statistics.hpp"
#include "simulator/figures/confidence.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::simulation {
namespace {

double mean_of(const std::vector<double>& values)
{
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double p99_of(std::vector<double> values)
{
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return quantile(values, 0.99);
}

} // namespace

CorunFigures figures_of(const CorunWorkload& workload, const CorunResult& result)
{
    CorunFigures figures;
    std::vector<double> all;
    std::vector<double> high;
    double work_s = 0;
    double repeated_s = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const CorunJob& job = workload.jobs[i];
        const CorunOutcome& outcome = result.jobs[i];
        work_s += outcome.work_s;
        if (job.repeats) repeated_s += outcome.work_s;
        if (job.repeats || outcome.end_s < 0) continue;
        all.push_back(outcome.end_s - job.arrival_s);
        if (job.is_high_priority) high.push_back(all.back());
    }
    figures.mean_completion_s = mean_of(all);
    figures.p99_completion_s = p99_of(std::move(all));
    figures.high_mean_completion_s = mean_of(high);
    figures.high_p99_completion_s = p99_of(std::move(high));
    figures.preemptions = static_cast<double>(result.preemptions);
    figures.decisions = static_cast<double>(result.decisions);
    if (result.end_s <= 0) return figures;
    figures.throughput = work_s / result.end_s;
    figures.repeated_rate = repeated_s / result.end_s;
    figures.shared_share = result.shared_s / result.end_s;
    return figures;
}

Confidence CorunRow::over_seeds(double CorunFigures::* figure) const
{
    std::vector<double> values;
    for (const CorunFigures& one : seeds)
        values.push_back(one.*figure);
    return confidence(values);
}

} // namespace fathom::simulation
