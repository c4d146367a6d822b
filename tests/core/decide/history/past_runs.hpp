#pragma once

#include "core/decide/history/run_history.hpp"

#include <chrono>

namespace fathom::test {

inline constexpr Timestamp kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

inline PastRun make_run(const std::string& job_type, const std::string& unit_type, double raw_s, double actual_s)
{
    PastRun run;
    run.job_type = job_type;
    run.unit_type = unit_type;
    run.raw_s = raw_s;
    run.raw_low_s = raw_s / 1.02;
    run.raw_high_s = raw_s * 1.02;
    run.actual_s = actual_s;
    run.ended_at = kNow;
    return run;
}

/// `count` runs that took `ratio` times what was predicted, a little around it.
inline void add_runs(std::vector<PastRun>& runs, const std::string& job_type, const std::string& unit_type, int count,
                     double ratio)
{
    for (int i = 0; i < count; ++i)
        runs.push_back(make_run(job_type, unit_type, 10, 10 * ratio * (1 + 0.02 * (i % 3 - 1))));
}

} // namespace fathom::test
