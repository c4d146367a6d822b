#include "server/routing/scheduling_batch.hpp"

// Measuring before the first run (M10): what a batch does before it decides.

#include "server/store/log_after_commit.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>

namespace fathom::server {
namespace {

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

} // namespace

Result<void> SchedulingBatch::find_metered_types(pqxx::work& transaction)
{
    if (report_.next.are_types_known) return {};
    std::vector<std::string> ended;
    for (const std::string& type : select_metering_types(transaction)) {
        const Result<ProbeProgress> progress = planner_->probe_progress(transaction, type);
        if (!progress) return progress.error();
        if (progress->is_pending) continue;
        ended.push_back(type);
        if (!progress->refusal.empty()) report_.next.refusals[type] = progress->refusal;
    }
    report_.next.metered_types = std::move(ended);
    report_.next.are_types_known = true;
    return {};
}

Result<bool> SchedulingBatch::meter(pqxx::work& transaction, WaitingJob& job)
{
    Result<RouteRequest> wanted = metering_request_of(job);
    if (!wanted) return wanted.error();
    // Probes behind a longer queue of the center's own would end when the job is placed without them.
    const auto is_in_time = [&](std::size_t index) {
        return catalog_->unit_types[index].queued_s < static_cast<double>(job.spec.metering_wait_s);
    };
    if (std::ranges::none_of(unmeasured_->find(*wanted, settings_->metering_period), is_in_time)) return false;
    ensure_fresh_catalog(transaction);
    std::vector<std::size_t> places;
    std::ranges::copy_if(unmeasured_->find(*wanted, settings_->metering_period), std::back_inserter(places),
                         is_in_time);
    if (places.empty()) return false;
    std::vector<UnitTypeId> targets;
    for (const std::size_t index : places)
        targets.push_back(catalog_->unit_types[index].id);
    const Result<RequestedProbes> probes = request_probes(transaction, job, targets);
    if (!probes) {
        const Error error = probes.error();
        if (may_succeed_again(error.code)) return error;
        log_after_commit(LogLevel::kWarning, "probes_not_requested",
                         {{"job_id", job.id.value}, {"error", describe(error)}});
        return false;
    }
    if (!probes->obstacle.empty()) note_obstacle(job, probes->obstacle);
    if (probes->runs.empty()) return false;
    start_metering(job, names_of(places), *probes);
    return true;
}

void SchedulingBatch::start_metering(const WaitingJob& job, const std::vector<std::string>& places,
                                     const RequestedProbes& probes)
{
    metering_.push_back({job.id, job.spec.metering_wait_s});
    NewJobEvent event;
    event.job_id = job.id;
    event.state = JobState::kMetering;
    event.cause = "no fresh measurement of its type on " + join(places) +
                  (probes.is_pretest ? ": its probe task is tried first" : ": probes first");
    event.evidence["metering_wait_s"] = job.spec.metering_wait_s;
    event.evidence["pretest"] = probes.is_pretest;
    event.evidence["probe_run_ids"] = Json::array();
    for (const ProbeRunId& run : probes.runs)
        event.evidence["probe_run_ids"].push_back(run.value);
    events_.push_back(std::move(event));
    ++report_.metering;
}

void SchedulingBatch::note_obstacle(WaitingJob& job, const std::string& obstacle)
{
    // Once: from now on the job counts as metered and is not looked at for this again.
    metered_.push_back(job.id.value);
    job.is_metered = true;
    ++job.version; // as update_to_metered() does
    events_.push_back({job.id, JobState::kQueued, obstacle + "; it is placed on what is known", Json::object()});
}

Result<RequestedProbes> SchedulingBatch::request_probes(pqxx::work& transaction, const WaitingJob& job,
                                                        const std::vector<UnitTypeId>& targets)
{
    std::string key = job.job_type + '\n' + key_of(job.spec.operators);
    for (const UnitTypeId& target : targets)
        key += '\n' + target.value;
    const auto known = requested_.find(key);
    if (known != requested_.end()) return known->second;
    Result<RequestedProbes> probes = planner_->request_probes(transaction, job.job_type, job.spec.operators, targets);
    if (probes) requested_[key] = *probes;
    return probes;
}

Result<RouteRequest> SchedulingBatch::metering_request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request = make_route_terms(job.spec, *catalog_, now_);
    request.operators = (*demands)->probed;
    request.refused_by = job.refused_by;
    if (job.label != "probe") apply_rules(find_rules(catalog_->projects, job.spec.project), request);
    return request;
}

void SchedulingBatch::finish_metering(pqxx::work& transaction, const WaitingJob& job)
{
    const std::vector<std::string>& types = report_.next.metered_types;
    const bool is_ended = std::find(types.begin(), types.end(), job.job_type) != types.end();
    ensure_fresh_catalog(transaction);
    metered_.push_back(job.id.value);
    NewJobEvent event;
    event.job_id = job.id;
    event.state = JobState::kQueued;
    const auto refusal = report_.next.refusals.find(job.job_type);
    if (is_ended && refusal != report_.next.refusals.end())
        event.cause = refusal->second + "; it is placed on what is known";
    else
        event.cause = is_ended ? "the probes of its type have ended"
                               : "its wait of " + std::to_string(job.spec.metering_wait_s) +
                                     " s for probes is over: it is placed on what is known";
    events_.push_back(std::move(event));
}

std::vector<std::string> SchedulingBatch::unmeasured_places(const RouteRequest& request)
{
    return names_of(unmeasured_->find(request, settings_->metering_period));
}

std::vector<std::string> SchedulingBatch::names_of(const std::vector<std::size_t>& places) const
{
    std::vector<std::string> names;
    for (const std::size_t index : places) {
        const UnitTypeView& view = catalog_->unit_types[index];
        names.push_back(view.center_name + "/" + view.name);
    }
    return names;
}

} // namespace fathom::server
