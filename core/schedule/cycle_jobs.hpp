#pragma once

#include "core/decide/queue/order_jobs.hpp"

#include <cstddef>
#include <map>
#include <vector>

/// The jobs of a cycle while it is decided; part of core/schedule/schedule.
namespace fathom {

/// What is known of each job so far, by its index into the jobs of the cycle.
struct CycleJobs {
    explicit CycleJobs(std::size_t count) : views(count), is_done(count, false), is_refused(count, false) {}

    std::vector<WaitingJobView> views; ///< as their order looks at them
    std::vector<bool> is_done;         ///< decided: it starts, or it waits for something else than its priority rank
    std::vector<bool> is_refused;      ///< the start could not be made; the job is planned
    /// The options that are left of jobs of which some proved impossible.
    std::map<std::size_t, JobOptions> left;
};

/// Some of the jobs, as core/decide/queue/order_jobs is called with them.
struct OrderCall {
    std::vector<std::size_t> jobs; ///< their indices
    std::vector<WaitingJobView> views;
};

/// The jobs that may still start when their order says so, with the options that are left.
OrderCall jobs_to_start(const CycleJobs& jobs);

/// The jobs that are not decided yet, with all their options.
OrderCall jobs_to_plan(const CycleJobs& jobs);

/// Removes the option, which proved impossible for the job, from what jobs_to_start() says. A job of which many options
/// proved impossible, or all, is refused.
void lose_option(CycleJobs& jobs, std::size_t job, const JobOption& option);

} // namespace fathom
