#include "server/routing/batch/batch_preparation.hpp"

#include "core/base/join_text.hpp"
#include "server/routing/in_use/device_tenants.hpp"
#include "server/routing/in_use/gpu_rooms.hpp"
#include "server/routing/in_use/queue_room.hpp"
#include "server/store/log_after_commit.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::server {
namespace {

/// Jobs of a batch that are divided: each is a decision of its own, for which the batch's other jobs wait. The rest is
/// looked at by the next cycle, which is called for.
constexpr std::ptrdiff_t kMaxDivided = 64;

} // namespace

KnownUse read_use_of_units(pqxx::work& transaction, CycleLedger& ledger, const CatalogSnapshot& catalog)
{
    ledger.attempts.read(transaction);
    KnownUse known{ledger.attempts.use(), {}};
    if (has_divided_devices(catalog.unit_types)) known.gpu_rooms = select_gpu_rooms(transaction);
    if (const auto& needs = catalog.gpu_needs.by_kind) expect_learned_memory(transaction, *needs, known.gpu_rooms);
    ledger.gpu_shares = GpuShares(ledger.attempts.gpus(catalog.unit_types),
                                  ledger.attempts.coming_tenants(catalog.unit_types), catalog);
    ledger.queue_room = queue_room_of(known.units, catalog);
    return known;
}

Result<CycleCursor> find_metered_types(pqxx::work& transaction, ProbePlanner& planner, CycleCursor cursor)
{
    if (cursor.are_types_known) return cursor;
    std::vector<std::string> ended;
    for (const std::string& type : select_metering_types(transaction)) {
        const Result<ProbeProgress> progress = planner.probe_progress(transaction, type);
        if (!progress) return progress.error();
        if (progress->is_pending) continue;
        ended.push_back(type);
        if (!progress->refusal.empty()) cursor.refusals[type] = progress->refusal;
    }
    cursor.metered_types = std::move(ended);
    cursor.are_types_known = true;
    return cursor;
}

bool may_succeed_again(Errc code)
{
    // A full queue of probes is no reason to keep everybody waiting: the job is placed on what is known.
    return (is_transient(code) && code != Errc::kTooMany) || code == Errc::kConflict;
}

Result<void> BatchPreparation::prepare(const WaitingJob& job)
{
    if (const std::optional<Error>& unreadable = job.known->unreadable)
        return Error{Errc::kInvalid, "its specification cannot be read", unreadable->fields};
    const Result<bool> ended = end_overdue(job);
    if (!ended) return ended.error();
    if (*ended) return {};
    WaitingJob current = job;
    if (job.state == JobState::kMetering) {
        finish_metering(job);
        current.is_metered = true;
        ++current.version; // as update_to_metered() does
    }
    Result<RouteRequest> request = requests_->request_of(job);
    if (!request) {
        // The operator may be newer than our snapshot.
        ensure_fresh_catalog();
        request = requests_->request_of(job);
        if (!request) return request.error();
    }
    const bool may_meter =
        current.label == "job" && !current.is_metered && !job.spec.operators.empty() && job.spec.metering_wait_s > 0;
    if (may_meter) {
        const Result<bool> metering = meter(current);
        if (!metering) return metering.error();
        if (*metering) return {};
    }
    if (current.may_divide) return leave_undivided(current, *request);
    prepared_.ready.push_back({std::move(current), std::move(*request)});
    return {};
}

PreparedJobs BatchPreparation::take()
{
    // Only now, since any job may have had the catalog read anew, and jobs of one kind are to ask for the same.
    const auto renew = [this](const WaitingJob& job, RouteRequest& request) {
        // Prices may be in another currency now.
        if (is_fresh_) request.budget = make_route_terms(job.spec, *requests_->catalog(), requests_->now()).budget;
    };
    for (BatchJob& ready : prepared_.ready) {
        tools_->ledger->gpu_shares.set(ready.request);
        renew(ready.job, ready.request);
    }
    for (UndividedJob& undivided : prepared_.undivided)
        renew(undivided.job, undivided.request);
    return std::move(prepared_);
}

Result<bool> BatchPreparation::end_overdue(const WaitingJob& job)
{
    if (!job.spec.deadline || *job.spec.deadline > requests_->now()) return false;
    const std::string waited = job.waiting_reason.empty() ? std::string() : ": " + job.waiting_reason;
    const std::string time = format_rfc3339(*job.spec.deadline);
    const Result<void> ended = tools_->terminator->end_waiting_job(
        *transaction_, job.id, job.label,
        (job.is_part
             ? "its part had to end by " + time + " for the job to meet its deadline, and could not be placed before"
             : "its deadline " + time + " passed before it could be placed") +
            waited);
    if (!ended) return ended.error();
    ++prepared_.overdue;
    return true;
}

void BatchPreparation::ensure_fresh_catalog()
{
    if (is_fresh_) return;
    is_fresh_ = true;
    const CatalogPointer catalog = tools_->cache->reload(*transaction_);
    if (tools_->ledger->units) { // of the old one
        tools_->ledger->units.reset();
        prepared_.gpu_rooms = read_use_of_units(*transaction_, *tools_->ledger, *catalog).gpu_rooms;
    }
    requests_->set_catalog(catalog, *tools_->columns);
}

Result<void> BatchPreparation::leave_undivided(const WaitingJob& job, const RouteRequest& request)
{
    if (std::ssize(prepared_.undivided) >= kMaxDivided) return {};
    Result<UndividedJob> undivided = read_undivided_job(*transaction_, job, request);
    if (!undivided) return undivided.error();
    prepared_.undivided.push_back(std::move(*undivided));
    return {};
}

Result<bool> BatchPreparation::meter(WaitingJob& job)
{
    Result<RouteRequest> wanted = requests_->metering_request_of(job);
    if (!wanted) return wanted.error();
    // Probes behind a longer queue of the center's own would end when the job is placed without them.
    const auto is_in_time = [&](std::size_t index) {
        return requests_->catalog()->unit_types[index].queued_s < static_cast<double>(job.spec.metering_wait_s);
    };
    if (std::ranges::none_of(requests_->unmeasured(*wanted, tools_->settings->metering_period), is_in_time))
        return false;
    ensure_fresh_catalog();
    std::vector<std::size_t> places;
    std::ranges::copy_if(requests_->unmeasured(*wanted, tools_->settings->metering_period), std::back_inserter(places),
                         is_in_time);
    if (places.empty()) return false;
    std::vector<UnitTypeId> targets;
    for (const std::size_t index : places)
        targets.push_back(requests_->catalog()->unit_types[index].id);
    const Result<RequestedProbes> probes = request_probes(job, targets);
    if (!probes) {
        const Error error = probes.error();
        if (may_succeed_again(error.code)) return error;
        log_after_commit(LogLevel::kWarning, "probes_not_requested",
                         {{"job_id", job.id.value}, {"error", describe(error)}});
        return false;
    }
    if (!probes->obstacle.empty()) note_obstacle(job, probes->obstacle);
    if (probes->runs.empty()) return false;
    start_metering(job, requests_->names_of(places), *probes);
    return true;
}

void BatchPreparation::start_metering(const WaitingJob& job, const std::vector<std::string>& places,
                                      const RequestedProbes& probes)
{
    prepared_.metering.push_back({job.id, job.spec.metering_wait_s});
    NewJobEvent event;
    event.job_id = job.id;
    event.state = JobState::kMetering;
    event.cause = "no fresh measurement of its type on " + join_text(places) +
                  (probes.is_pretest ? ": its probe task is tried first" : ": probes first");
    event.evidence["metering_wait_s"] = job.spec.metering_wait_s;
    event.evidence["pretest"] = probes.is_pretest;
    event.evidence["probe_run_ids"] = Json::array();
    for (const ProbeRunId& run : probes.runs)
        event.evidence["probe_run_ids"].push_back(run.value);
    prepared_.events.push_back(std::move(event));
}

void BatchPreparation::note_obstacle(WaitingJob& job, const std::string& obstacle)
{
    // Once: from now on the job counts as metered and is not looked at for this again.
    prepared_.metered.push_back(job.id.value);
    job.is_metered = true;
    ++job.version; // as update_to_metered() does
    prepared_.events.push_back(
        {job.id, JobState::kQueued, obstacle + "; it is placed on what is known", Json::object()});
}

Result<RequestedProbes> BatchPreparation::request_probes(const WaitingJob& job, const std::vector<UnitTypeId>& targets)
{
    std::string key = job.job_type + '\n' + key_of_operators(job.spec.operators);
    for (const UnitTypeId& target : targets)
        key += '\n' + target.value;
    const auto known = requested_.find(key);
    if (known != requested_.end()) return known->second;
    Result<RequestedProbes> probes =
        tools_->planner->request_probes(*transaction_, job.job_type, job.spec.operators, targets);
    if (probes) {
        requested_[key] = *probes;
        prepared_.has_asked_for_probes = true;
    }
    return probes;
}

void BatchPreparation::finish_metering(const WaitingJob& job)
{
    const std::vector<std::string>& types = cursor_->metered_types;
    const bool is_ended = std::find(types.begin(), types.end(), job.job_type) != types.end();
    ensure_fresh_catalog();
    prepared_.metered.push_back(job.id.value);
    NewJobEvent event;
    event.job_id = job.id;
    event.state = JobState::kQueued;
    const auto refusal = cursor_->refusals.find(job.job_type);
    if (is_ended && refusal != cursor_->refusals.end())
        event.cause = refusal->second + "; it is placed on what is known";
    else
        event.cause = is_ended ? "the probes of its type have ended"
                               : "its wait of " + std::to_string(job.spec.metering_wait_s) +
                                     " s for probes is over: it is placed on what is known";
    prepared_.events.push_back(std::move(event));
}

} // namespace fathom::server
