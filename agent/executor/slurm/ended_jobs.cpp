#include "agent/executor/slurm/ended_jobs.hpp"

#include <utility>

namespace fathom::agent {
namespace {

/// Jobs that have ended, of which the agent remembers that they have.
constexpr std::size_t kMaxEndedJobs = 10'000;

} // namespace

void EndedJobs::add(const std::string& number, EndedJob job)
{
    if (!jobs_.insert_or_assign(number, std::move(job)).second)
        return; // a controller that was killed gives numbers twice
    order_.push_back(number);
    if (order_.size() <= kMaxEndedJobs) return;
    jobs_.erase(order_.front());
    order_.pop_front();
}

EndedJob* EndedJobs::find(const SlurmJob& shown)
{
    const auto found = jobs_.find(shown.id);
    const bool is_same =
        found != jobs_.end() && found->second.attempt.value == shown.name && found->second.uid == shown.uid;
    return is_same ? &found->second : nullptr;
}

bool EndedJobs::is_left(EndedJob& job, const SlurmJob& shown, Time now, std::chrono::milliseconds limit)
{
    if (shown.state != "RUNNING" && shown.state != "PENDING") {
        job.shown_at.reset();
        return false;
    }
    if (!job.shown_at) job.shown_at = now;
    if (now - *job.shown_at < limit) return false;
    job.shown_at = now;
    return true;
}

} // namespace fathom::agent
