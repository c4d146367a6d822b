#include "core/schedule/scheduling.hpp"

#include <algorithm>
#include <tuple>

/// What the jobs of a cycle could have: the options that their order is made of.
namespace fathom {
namespace {

/// Whether the job's options are others when less is free: for one that wants nothing but an early end, on a number of
/// units that is given, they are not.
bool depends_on_what_is_free(const RouteRequest& request)
{
    return request.transfer.deadline || request.budget || request.prefer.cost > 0 || request.prefer.energy > 0 ||
           request.transfer.moves_data() || !request.units.count;
}

bool knows_run_times(const JobOptions& options)
{
    return std::all_of(options.begin(), options.end(), [](const JobOption& option) { return option.run_s > 0; });
}

} // namespace

void Scheduling::view_all()
{
    OptionsByKind by_kind;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const ReadyJob& job = jobs_[i];
        WaitingJobView& view = views_[i];
        view.id = job.id;
        view.waited_s = job.waited_s;
        view.priority = job.priority;
        view.gang = job.gang;
        view.gang_size = job.gang_size;
        const auto [options, is_new] = by_kind.try_emplace(job.kind);
        std::shared_ptr<const Decision>& seen = seen_[job.kind];
        if (is_new) {
            BriefDecision brief = ledger_.decide_briefly(job);
            if (brief.offered.wants_units) options->second = places_.options_of(job.request, brief.offered);
            if (brief.offered.leaves_out_devices) device_savers_.insert(job.kind);
            seen = std::make_shared<const Decision>(std::move(brief.decision));
        }
        view.options = options->second;
        is_done_[i] = view.options.empty();
        if (is_whole_wanted(i)) seen = decide(i);
        if (is_done_[i]) plan_.waits.push_back({.job = i, .decision = seen, .priority_rank = kLastRank});
    }
    typical_run_s_ = typical_run_s(views_);
    for (auto& [kind, options] : by_kind) {
        if (!knows_run_times(options)) options = with_run_times({options.begin(), options.end()});
    }
    give(by_kind);
    if (joins_center_queues(by_kind)) {
        queues_.emplace(places_, views_);
        for (auto& [kind, options] : by_kind)
            options = queues_->without_long(options);
        give(by_kind);
    }
    set_latest_starts();
    hold_probes();
    places_.weigh(views_);
}

void Scheduling::set_latest_starts()
{
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const TransferRequest& transfer = jobs_[i].request.transfer;
        if (!transfer.deadline || views_[i].options.empty()) continue;
        views_[i].latest_start_s =
            Seconds(*transfer.deadline - transfer.now).count() - shortest_run_s(views_[i].options);
    }
}

bool Scheduling::is_whole_wanted(std::size_t job) const
{
    return !jobs_[job].gang.empty() || job == input_->explained_job;
}

void Scheduling::give(const OptionsByKind& by_kind)
{
    for (std::size_t i = 0; i < jobs_.size(); ++i)
        views_[i].options = by_kind.at(jobs_[i].kind);
}

bool Scheduling::joins_center_queues(const OptionsByKind& by_kind) const
{
    return std::any_of(by_kind.begin(), by_kind.end(), [&](const auto& kind) { return has_queue(kind.second); });
}

bool Scheduling::has_queue(const JobOptions& options) const
{
    return std::any_of(options.begin(), options.end(),
                       [&](const JobOption& option) { return places_.unit_type(option.unit_type).has_queue(); });
}

void Scheduling::load_projects()
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        // Probes are the network's own: no project's load counts for them.
        if (!views_[i].options.empty() && !jobs_[i].request.is_probe) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(jobs_[b].priority, jobs_[a].id) < std::tie(jobs_[a].priority, jobs_[b].id);
    });
    std::vector<PlannedTake> takes;
    OptionsAlone options_alone;
    for (const std::size_t job : order) {
        const JobOption& alone = options_alone.of(views_[job].options);
        takes.push_back({jobs_[job].request.project, places_.unit_type(alone.unit_type).id.value, alone.unit_count});
        ledger_.name_project(jobs_[job].request.project);
    }
    if (ledger_.project_uses().size() < 2) return; // nothing is to be shared
    std::vector<UnitTypeSize> sizes;
    const UnitTypeList& unit_types = ledger_.units().views();
    for (std::size_t i = 0; i < unit_types.size(); ++i)
        sizes.push_back({unit_types.given(i).id.value, unit_types.given(i).unit_count});
    const std::vector<double> loads = progressive_loads(ledger_.project_uses(), sizes, takes);
    for (std::size_t i = 0; i < order.size(); ++i)
        views_[order[i]].fair_load = loads[i];
}

std::vector<JobOption> Scheduling::with_run_times(std::vector<JobOption> options) const
{
    for (JobOption& option : options) {
        if (!(option.run_s > 0)) option = with_run_time(option, typical_run_s_);
    }
    return options;
}

Scheduling::News Scheduling::news_of_starts()
{
    News news;
    for (; viewed_starts_ < plan_.starts.size(); ++viewed_starts_) {
        const ScheduledStart& start = plan_.starts[viewed_starts_];
        news.unit_types.insert(ledger_.units().find(start.winner.unit_type_id));
        news.projects.insert(jobs_[start.job].request.project);
    }
    return news;
}

/// Starts leave less free and less of quotas: what they did not touch is as it was, and the rest did not get better.
bool Scheduling::concerns(const News& news, std::size_t job) const
{
    const RouteRequest& request = jobs_[job].request;
    if (request.quota.is_limited() && news.projects.contains(request.project)) return true;
    const JobOptions& options = views_[job].options;
    return std::any_of(options.begin(), options.end(), [&](const JobOption& option) {
        return news.unit_types.contains(&places_.unit_type(option.unit_type));
    });
}

bool Scheduling::view_again()
{
    const News news = news_of_starts();
    bool has_looked = false;
    OptionsByKind by_kind;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const bool may_change = depends_on_what_is_free(jobs_[i].request) || device_savers_.contains(jobs_[i].kind);
        if (is_done_[i] || is_refused_[i] || !may_change || !concerns(news, i)) continue;
        has_looked = true;
        const auto [found, is_new] = by_kind.try_emplace(jobs_[i].kind);
        JobOptions& options = found->second;
        if (is_new) options = options_again(i);
        if (options == views_[i].options) {
            options = views_[i].options; // one list for all jobs of the kind
            continue;
        }
        left_.erase(i);
        is_refused_[i] = options.empty();
        if (!is_refused_[i]) views_[i].options = options;
    }
    return has_looked;
}

JobOptions Scheduling::options_again(std::size_t job)
{
    JobOptions options;
    const OfferedPlaces offered = ledger_.offered_places(jobs_[job]);
    if (offered.wants_units) options = with_run_times(places_.options_of(jobs_[job].request, offered));
    // What starts have left may be the first place with a queue.
    if (!queues_ && has_queue(options)) queues_.emplace(places_, views_);
    if (queues_) return queues_->without_long(options);
    return options;
}

} // namespace fathom
