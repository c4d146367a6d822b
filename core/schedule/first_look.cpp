#include "core/schedule/first_look.hpp"

#include <algorithm>
#include <utility>

namespace fathom {
namespace {

using OptionsByKind = std::unordered_map<std::string_view, JobOptions>;

/// Whether the job's decision must list all places, not only the winner, if the job waits.
bool is_whole_wanted(const ScheduleInput& input, std::size_t job)
{
    return !input.jobs[job].gang.empty() || job == input.explained_job;
}

/// The job without its options.
WaitingJobView view_of(const ReadyJob& job)
{
    WaitingJobView view;
    view.id = job.id;
    view.waited_s = job.waited_s;
    view.priority = job.priority;
    view.gang = job.gang;
    view.gang_size = job.gang_size;
    return view;
}

/// Decides briefly on the first job of each kind: the others have the same options.
OptionsByKind look_at_kinds(const CycleTools& tools, FirstLook& look)
{
    OptionsByKind by_kind;
    for (std::size_t i = 0; i < tools.jobs().size(); ++i) {
        const ReadyJob& job = tools.job(i);
        WaitingJobView& view = look.jobs.views[i];
        view = view_of(job);
        const auto [options, is_new] = by_kind.try_emplace(job.kind);
        std::shared_ptr<const Decision>& seen = look.kinds.decisions[job.kind];
        if (is_new) {
            BriefDecision brief = tools.ledger->decide_briefly(job);
            if (brief.offered.wants_units) options->second = tools.places->options_of(job.request, brief.offered);
            if (brief.offered.leaves_out_devices) look.kinds.device_savers.insert(job.kind);
            seen = std::make_shared<const Decision>(std::move(brief.decision));
        }
        view.options = options->second;
        look.jobs.is_done[i] = view.options.empty();
        if (is_whole_wanted(*tools.input, i)) seen = tools.ledger->decide(job);
        if (look.jobs.is_done[i]) look.waits.push_back({.job = i, .decision = seen, .priority_rank = kLastRank});
    }
    return by_kind;
}

bool knows_run_times(const JobOptions& options)
{
    return std::all_of(options.begin(), options.end(), [](const JobOption& option) { return option.run_s > 0; });
}

bool has_any_queue(const OptionsByKind& by_kind, const WantedPlaces& places)
{
    return std::any_of(by_kind.begin(), by_kind.end(),
                       [&](const auto& kind) { return joins_queue(kind.second, places); });
}

void give_options(const OptionsByKind& by_kind, std::span<const ReadyJob> jobs, std::vector<WaitingJobView>& views)
{
    for (std::size_t i = 0; i < jobs.size(); ++i)
        views[i].options = by_kind.at(jobs[i].kind);
}

void set_latest_starts(std::span<const ReadyJob> jobs, std::vector<WaitingJobView>& views)
{
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const TransferRequest& transfer = jobs[i].request.transfer;
        if (!transfer.deadline || views[i].options.empty()) continue;
        views[i].latest_start_s = Seconds(*transfer.deadline - transfer.now).count() - shortest_run_s(views[i].options);
    }
}

} // namespace

FirstLook look_at_jobs(const CycleTools& tools)
{
    FirstLook look{CycleJobs(tools.jobs().size()), {}, {}, {}};
    std::vector<WaitingJobView>& views = look.jobs.views;
    OptionsByKind by_kind = look_at_kinds(tools, look);
    look.completion.typical_run_s = typical_run_s(views);
    for (auto& [kind, options] : by_kind) {
        if (!knows_run_times(options))
            options = with_run_times({options.begin(), options.end()}, look.completion.typical_run_s);
    }
    give_options(by_kind, tools.jobs(), views);
    if (has_any_queue(by_kind, *tools.places)) {
        const CenterQueues& queues = look.completion.queues.emplace(*tools.places, views);
        for (auto& [kind, options] : by_kind)
            options = queues.without_long(options);
        give_options(by_kind, tools.jobs(), views);
    }
    set_latest_starts(tools.jobs(), views);
    return look;
}

} // namespace fathom
