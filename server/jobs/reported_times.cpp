#include "server/jobs/reported_times.hpp"

#include "core/base/log.hpp"
#include "server/store/log_after_commit.hpp"

#include <algorithm>
#include <chrono>

namespace fathom::server {

Timestamp within_attempt(Timestamp said, const AttemptJob& job, Timestamp now)
{
    constexpr std::chrono::seconds kReportTime{1}; // from what says how long ago that was, to `now`
    const auto since = std::chrono::duration_cast<Timestamp::duration>(Seconds(std::max(0.0, job.ordered_s)));
    return std::clamp(said, now - since - kReportTime, now);
}

void limit_run(AttemptEnd& end, const AttemptJob& job)
{
    constexpr double kClockTolerance = 1.01;
    if (job.ordered_s < 0) return;
    const double most = job.ordered_s * kClockTolerance;
    if (end.run_s <= most) return;
    log_after_commit(
        LogLevel::kWarning, "run_time_cut",
        {{"attempt_id", end.attempt_id.value}, {"center", job.center}, {"said_s", end.run_s}, {"most_s", most}});
    end.run_s = most;
}

void limit_times(AttemptEnd& end, const AttemptJob& job, Timestamp now)
{
    if (end.started_at) end.started_at = within_attempt(*end.started_at, job, now);
    end.ended_at = std::max(within_attempt(end.ended_at, job, now), end.started_at.value_or(end.ended_at));
}

} // namespace fathom::server
