#pragma once

#include "simulator/corun/corun_simulation.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/figures/figures.hpp"

#include <string>
#include <vector>

namespace fathom::simulation {

/// Of one run. Completion is from arrival to end.
struct CorunFigures {
    double mean_completion_s{};
    double p99_completion_s{};
    double high_mean_completion_s{}; ///< of jobs of high priority; 0 without any
    double high_p99_completion_s{};
    double throughput{};    ///< work in seconds alone on the GPU, per second until the last job ended
    double repeated_rate{}; ///< the same of the jobs that repeat
    double shared_share{};  ///< of the time, with more than one job on the GPU
    double preemptions{};
    double decisions{};
};
/// Jobs that repeat count in the throughput only; jobs that did not end are left out.
CorunFigures figures_of(const CorunWorkload& workload, const CorunResult& result);

/// A policy's figures over seeds.
struct CorunRow {
    std::string policy;
    std::vector<CorunFigures> seeds;

    Confidence over_seeds(double CorunFigures::* figure) const;
    double mean(double CorunFigures::* figure) const { return over_seeds(figure).mean; }
};

} // namespace fathom::simulation
