#pragma once

#include "simulator/workloads/read_formats.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <cmath>
#include <sstream>

namespace fathom::fuzz {

/// What every reader of workloads promises: jobs by arrival, each with work and units, indices that point at something.
inline void check_workload_input(const Result<simulation::WorkloadInput>& input)
{
    if (!input) {
        FATHOM_ASSERT(input.error().code == Errc::kInvalid && !input.error().detail.empty());
        return;
    }
    const simulation::Workload& workload = input->workload;
    FATHOM_ASSERT(!workload.jobs.empty() && input->lines.size() == workload.jobs.size());
    double last_s = 0;
    for (const simulation::Job& job : workload.jobs) {
        FATHOM_ASSERT(std::isfinite(job.arrival_s) && job.arrival_s >= last_s);
        FATHOM_ASSERT(std::isfinite(job.work) && job.work > 0 && std::isfinite(job.estimate_s));
        FATHOM_ASSERT(job.unit_count >= 1 && job.job_type < input->job_types.size());
        FATHOM_ASSERT(job.project < workload.projects.size() && job.user < workload.users.size());
        FATHOM_ASSERT(job.details < workload.details.size());
        for (const std::uint32_t type : workload.details[job.details].unit_types)
            FATHOM_ASSERT(type < input->unit_types.size());
        last_s = job.arrival_s;
    }
    for (const simulation::InputSkips& skips : input->skips)
        FATHOM_ASSERT(skips.count >= 1 && !skips.rule.empty() && skips.lines.size() <= 10);
}

/// Reads a text as one format.
template <class Reader>
void check_workload(std::string_view text, const Reader& reader)
{
    std::istringstream stream{std::string(text)};
    check_workload_input(reader(stream, "log.csv", {.job_count = 10}));
}

} // namespace fathom::fuzz
