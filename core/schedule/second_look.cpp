#include "core/schedule/second_look.hpp"

#include <algorithm>

namespace fathom {
namespace {

/// Whether the job's options are others when less is free: for one that wants nothing but an early end, on a number of
/// units that is given, they are not, but where it minds who is on its GPU.
bool depends_on_what_is_free(const RouteRequest& request)
{
    return request.transfer.deadline || request.budget || request.prefer.cost > 0 || request.prefer.energy > 0 ||
           request.transfer.moves_data() || !request.units.count || request.minds_gpu_neighbours();
}

/// Starts leave less free and less of quotas: what they did not touch is as it was, and the rest did not get better.
bool concerns(const StartNews& news, const RouteRequest& request, const JobOptions& options, const WantedPlaces& places)
{
    if (request.quota.is_limited() && news.projects.contains(request.project)) return true;
    return std::any_of(options.begin(), options.end(), [&](const JobOption& option) {
        return news.unit_types.contains(&places.unit_type(option.unit_type));
    });
}

/// What jobs of this one's kind can have now.
JobOptions options_again(const CycleTools& tools, const ReadyJob& job, OptionCompletion& completion,
                         std::span<const WaitingJobView> views)
{
    JobOptions options;
    const OfferedPlaces offered = tools.ledger->offered_places(job);
    if (offered.wants_units)
        options = with_run_times(tools.places->options_of(job.request, offered), completion.typical_run_s);
    // What starts have left may be the first place with a queue.
    if (!completion.queues && joins_queue(options, *tools.places)) completion.queues.emplace(*tools.places, views);
    if (completion.queues) return completion.queues->without_long(options);
    return options;
}

} // namespace

StartNews news_of(const CycleTools& tools, std::span<const ScheduledStart> starts)
{
    StartNews news;
    for (const ScheduledStart& start : starts) {
        news.unit_types.insert(tools.ledger->units().find(start.winner.unit_type_id));
        news.projects.insert(tools.job(start.job).request.project);
    }
    return news;
}

bool look_again_at_jobs(const CycleTools& tools, const StartNews& news, const KindViews& kinds,
                        OptionCompletion& completion, CycleJobs& jobs)
{
    bool has_looked = false;
    std::unordered_map<std::string_view, JobOptions> by_kind;
    for (std::size_t i = 0; i < tools.jobs().size(); ++i) {
        const ReadyJob& job = tools.job(i);
        WaitingJobView& view = jobs.views[i];
        const bool may_change = depends_on_what_is_free(job.request) || kinds.device_savers.contains(job.kind);
        if (jobs.is_done[i] || jobs.is_refused[i] || !may_change) continue;
        if (!concerns(news, job.request, view.options, *tools.places)) continue;
        has_looked = true;
        const auto [found, is_new] = by_kind.try_emplace(job.kind);
        JobOptions& options = found->second;
        if (is_new) options = options_again(tools, job, completion, jobs.views);
        if (options == view.options) {
            options = view.options; // one list for all jobs of the kind
            continue;
        }
        jobs.left.erase(i);
        jobs.is_refused[i] = options.empty();
        if (!jobs.is_refused[i]) view.options = options;
    }
    return has_looked;
}

} // namespace fathom
