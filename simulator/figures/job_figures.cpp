#include "simulator/figures/job_figures.hpp"

#include "simulator/figures/no_figure.hpp"

#include <algorithm>

namespace fathom::simulation {
namespace {

constexpr double kMinThatCounts = 10; ///< seconds

} // namespace

JobFigurer::JobFigurer(const Scenario& scenario) : kinds_(scenario)
{
    for (const UnitType& type : scenario.network.unit_types)
        units_ += static_cast<double>(type.unit_count);
}

JobFigures JobFigurer::of(const Job& job, const JobOutcome& outcome)
{
    const JobKind& kind = kinds_[kinds_.index_of(job)];
    const double completion_s = outcome.end_s - job.arrival_s;
    const double wanted = completion_s > 0 ? outcome.demand_unit_s / completion_s : 0;
    const double fair_s = kind.mean_s * job.work * std::max(1.0, wanted / units_);
    return {job.project, completion_s, outcome.start_s - job.arrival_s,
            std::max(1.0, completion_s / std::max(kind.shortest_s * job.work, kMinThatCounts)),
            fair_s > 0 ? completion_s / fair_s : kNoFigure};
}

double JobFigurer::shortest_s(const Job& job)
{
    return kinds_[kinds_.index_of(job)].shortest_s * job.work;
}

} // namespace fathom::simulation
