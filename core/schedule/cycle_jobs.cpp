#include "core/schedule/cycle_jobs.hpp"

namespace fathom {
namespace {

/// A job of which so many places proved not to be free for it is left to be planned.
constexpr std::size_t kMaxLost = 4;

} // namespace

OrderCall jobs_to_start(const CycleJobs& jobs)
{
    OrderCall call;
    for (std::size_t i = 0; i < jobs.views.size(); ++i) {
        if (jobs.is_done[i] || jobs.is_refused[i]) continue;
        call.jobs.push_back(i);
        call.views.push_back(jobs.views[i]);
        if (const auto left = jobs.left.find(i); left != jobs.left.end()) call.views.back().options = left->second;
    }
    return call;
}

OrderCall jobs_to_plan(const CycleJobs& jobs)
{
    OrderCall call;
    for (std::size_t i = 0; i < jobs.views.size(); ++i) {
        if (jobs.is_done[i]) continue;
        call.jobs.push_back(i);
        call.views.push_back(jobs.views[i]);
    }
    return call;
}

void lose_option(CycleJobs& jobs, std::size_t job, const JobOption& option)
{
    JobOptions& known = jobs.left.try_emplace(job, jobs.views[job].options).first->second;
    std::vector<JobOption> left(known.begin(), known.end());
    std::erase_if(left, [&](const JobOption& one) {
        return one.unit_type == option.unit_type && one.unit_count == option.unit_count;
    });
    known = left;
    jobs.is_refused[job] = left.empty() || jobs.views[job].options.size() - left.size() >= kMaxLost;
}

} // namespace fathom
