#include "server/routing/scheduling_batch.hpp"

#include "server/routing/device_tenants.hpp"
#include "server/routing/gpu_rooms.hpp"
#include "server/routing/queue_room.hpp"
#include "server/store/commit_without_wait.hpp"
#include "server/store/log_after_commit.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <set>

namespace fathom::server {
namespace {

/// The oldest waiting jobs are in the first batch of each cycle, whatever their turns: so many, and of a short batch
/// one more to four in turn.
constexpr std::int64_t kOldestJobs = 64;

void append(std::vector<WaitingJob>& jobs, std::vector<WaitingJob> more)
{
    jobs.insert(jobs.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace

std::vector<Reservation> reservations_of(const std::vector<PlannedUnits>& planned)
{
    std::vector<Reservation> reservations;
    for (const PlannedUnits& units : planned)
        reservations.push_back(units.reservation);
    return reservations;
}

SchedulingBatch::SchedulingBatch(const RoutingSettings& settings, CatalogCache& catalog, ProbePlanner& planner,
                                 WaitingJobTerminator& terminator, ProjectUses& uses, ColumnsOfCatalog& columns,
                                 std::shared_ptr<const UnitTypeLoads> loads, const Clock& clock, CycleLedger& ledger)
    : settings_(&settings), cache_(&catalog), planner_(&planner), terminator_(&terminator), uses_(&uses),
      columns_(&columns), loads_(std::move(loads)), clock_(&clock), ledger_(&ledger), now_(clock.now()),
      catalog_(catalog.get())
{
    if (ledger_->serves(catalog_, now_))
        now_ = ledger_->now;
    else
        ledger_->units.reset();
    unmeasured_.emplace(columns_->get(catalog_), now_);
}

Result<void> SchedulingBatch::read(pqxx::work& transaction, CycleCursor state, std::int64_t limit)
{
    report_.next = std::move(state);
    if (ledger_->units) {
        has_free_unit_ = ledger_->units->has_free_unit();
    } else {
        UseOfUnits use = read_use_of_units(transaction);
        count_taken(use.taken, reservations_of(report_.next.planned));
        has_free_unit_ = has_free_unit(catalog_->unit_types, catalog_->calendar, use.taken, now_);
    }
    report_.is_done = true;
    if (!report_.next.is_tick && !has_free_unit_ && !ledger_->queue_room.has_some) return {};
    if (const Result<void> found = find_metered_types(transaction); !found) return found.error();
    for (const WaitingJob& job : claim(transaction, limit)) {
        if (!is_worth_a_look(job)) continue;
        if (const Result<void> prepared = prepare(transaction, job); !prepared) {
            const Error error = prepared.error();
            if (may_succeed_again(error.code)) return error;
            const std::string reason = "cannot be routed: " + describe(error);
            if (job.waiting_reason != reason)
                log_after_commit(LogLevel::kError, "job_not_routed",
                                 {{"job_id", job.id.value}, {"error", describe(error)}});
            note_reason(job, reason);
        }
    }
    read_input(transaction);
    if (only_claims()) commit_without_wait(transaction);
    write_notes(transaction);
    report_.has_free_unit = has_free_unit_;
    report_.is_done = report_.is_end || (!report_.next.is_tick && !has_free_unit_);
    return {};
}

UseOfUnits SchedulingBatch::read_use_of_units(pqxx::work& transaction)
{
    ledger_->attempts.read(transaction);
    UseOfUnits use = ledger_->attempts.use();
    if (has_divided_devices(catalog_->unit_types)) gpu_rooms_ = select_gpu_rooms(transaction);
    ledger_->gpu_shares = GpuShares(transaction, *catalog_);
    ledger_->queue_room = queue_room_of(use, *catalog_);
    return use;
}

bool SchedulingBatch::only_claims() const
{
    return report_.overdue == 0 && metered_.empty() && metering_.empty() && requested_.empty() && events_.empty();
}

void SchedulingBatch::write_notes(pqxx::work& transaction)
{
    update_to_metered(transaction, std::exchange(metered_, {}));
    update_to_metering(transaction, std::exchange(metering_, {}));
    update_waiting(transaction, std::exchange(reasons_, {}), std::exchange(ranks_, {}));
    record_job_events(transaction, std::exchange(events_, {}));
}

std::vector<WaitingJob> SchedulingBatch::claim(pqxx::work& transaction, std::int64_t limit)
{
    CycleCursor& cursor = report_.next;
    const bool is_first = cursor.after == LinePlace{};
    const ClaimTerms terms{settings_->replica.value, cursor.metered_types};
    std::vector<WaitingJob> jobs = claim_waiting_jobs(transaction, {cursor.after, limit, terms}, specs_);
    // A short batch is not the end when other replicas held rows; the next tick sees those.
    report_.is_end = std::ssize(jobs) < limit;
    if (!jobs.empty()) cursor.after = {jobs.back().priority_rank, jobs.back().id.value};
    // A batch of one job is there to find the one that cannot be routed: it is looked at alone.
    const bool is_alone = limit == 1;
    if (!is_alone) {
        const std::ptrdiff_t in_turn = std::ssize(jobs);
        // A short batch has the oldest, too.
        if (is_first && !report_.is_end)
            append(jobs, claim_oldest_jobs(transaction, std::min(kOldestJobs, limit / 4), terms, specs_));
        const std::set<GangKey> left = claim_gangs(transaction, jobs);
        if (!left.empty()) end_before(left, jobs, in_turn);
    }
    std::erase_if(jobs, [&](const WaitingJob& job) {
        return (is_alone && !job.spec.gang.id.empty()) || !cursor.seen.insert(job.id.value).second;
    });
    std::sort(jobs.begin(), jobs.end(),
              [](const WaitingJob& a, const WaitingJob& b) { return a.id.value < b.id.value; });
    return jobs;
}

std::set<GangKey> SchedulingBatch::claim_gangs(pqxx::work& transaction, std::vector<WaitingJob>& jobs)
{
    CycleCursor& cursor = report_.next;
    std::set<GangKey> known = cursor.gangs;
    std::vector<GangKey> gangs;
    std::vector<std::string> ids;
    for (const WaitingJob& job : jobs) {
        ids.push_back(job.id.value);
        if (!job.spec.gang.id.empty() && known.insert(gang_key(job)).second) gangs.push_back(gang_key(job));
    }
    if (gangs.empty()) return {};
    GangClaim claimed =
        claim_gang_members(transaction, gangs, ids, {settings_->replica.value, cursor.metered_types}, specs_);
    append(jobs, std::move(claimed.jobs));
    const auto first_left = gangs.begin() + static_cast<std::ptrdiff_t>(claimed.gangs);
    cursor.gangs.insert(gangs.begin(), first_left);
    return {first_left, gangs.end()};
}

void SchedulingBatch::end_before(const std::set<GangKey>& left, std::vector<WaitingJob>& jobs, std::ptrdiff_t in_turn)
{
    const auto is_left = [&left](const WaitingJob& job) { return left.contains(gang_key(job)); };
    const auto turn_end = jobs.begin() + in_turn;
    const auto cut = std::find_if(jobs.begin(), turn_end, is_left);
    if (cut != turn_end && cut != jobs.begin()) {
        report_.is_end = false;
        report_.next.after = {std::prev(cut)->priority_rank, std::prev(cut)->id.value};
        // Members of gangs that were claimed stay with them.
        jobs.erase(std::remove_if(cut, turn_end, [](const WaitingJob& job) { return job.spec.gang.id.empty(); }),
                   turn_end);
    }
    // Of the oldest jobs these come in their turn.
    std::erase_if(jobs, is_left);
}

bool SchedulingBatch::may_succeed_again(Errc code)
{
    // A full queue of probes is no reason to keep everybody waiting: the job is placed on what is known.
    return (is_transient(code) && code != Errc::kTooMany) || code == Errc::kConflict;
}

bool SchedulingBatch::is_worth_a_look(const WaitingJob& job) const
{
    return report_.next.is_tick || job.waiting_reason.empty() || job.state == JobState::kMetering || has_free_unit_ ||
           ledger_->queue_room.has_some;
}

void SchedulingBatch::ensure_fresh_catalog(pqxx::work& transaction)
{
    if (is_fresh_) return;
    is_fresh_ = true;
    catalog_ = cache_->reload(transaction);
    if (ledger_->units) { // of the old one
        ledger_->units.reset();
        read_use_of_units(transaction);
    }
    unmeasured_.emplace(columns_->get(catalog_), now_);
    // Prices may be in another currency now.
    for (Ready& ready : ready_)
        ready.request.budget = make_route_terms(ready.job.spec, *catalog_, now_).budget;
}

Result<void> SchedulingBatch::prepare(pqxx::work& transaction, const WaitingJob& job)
{
    if (const std::optional<Error>& unreadable = job.known->unreadable)
        return Error{Errc::kInvalid, "its specification cannot be read", unreadable->fields};
    const Result<bool> ended = end_overdue(transaction, job);
    if (!ended) return ended.error();
    if (*ended) return {};
    WaitingJob current = job;
    if (job.state == JobState::kMetering) {
        finish_metering(transaction, job);
        current.is_metered = true;
        ++current.version; // as update_to_metered() does
    }
    Result<RouteRequest> request = request_of(job);
    if (!request) {
        // The operator may be newer than our snapshot.
        ensure_fresh_catalog(transaction);
        request = request_of(job);
        if (!request) return request.error();
    }
    const bool may_meter =
        current.label == "job" && !current.is_metered && !job.spec.operators.empty() && job.spec.metering_wait_s > 0;
    if (may_meter) {
        const Result<bool> metering = meter(transaction, current);
        if (!metering) return metering.error();
        if (*metering) return {};
    }
    ready_.push_back({std::move(current), std::move(*request)});
    return {};
}

Result<bool> SchedulingBatch::end_overdue(pqxx::work& transaction, const WaitingJob& job)
{
    if (!job.spec.deadline || *job.spec.deadline > now_) return false;
    const std::string waited = job.waiting_reason.empty() ? std::string() : ": " + job.waiting_reason;
    const Result<void> ended = terminator_->end_waiting_job(transaction, job.id, job.label,
                                                            "its deadline " + format_rfc3339(*job.spec.deadline) +
                                                                " passed before it could be placed" + waited);
    if (!ended) return ended.error();
    ++report_.overdue;
    return true;
}

std::string SchedulingBatch::key_of(const std::vector<OperatorUse>& operators)
{
    std::string key;
    for (const OperatorUse& use : operators) {
        key += operator_key(use.id, use.parameters) + '@' + std::to_string(use.version) + '*' +
               std::to_string(use.count) + use.remainder + ' ' + use.label;
        for (const std::string& input : use.inputs)
            key += '<' + input;
        key += '\n';
    }
    return key;
}

Result<const SchedulingBatch::KnownDemands*> SchedulingBatch::demands_of(const WaitingJob& job)
{
    const KnownDemands*& of_spec = demands_of_spec_[job.known.get()];
    if (of_spec != nullptr) return of_spec;
    const auto [known, is_new] = known_demands_.try_emplace(key_of(job.spec.operators));
    if (is_new) {
        Result<RouteRequest> own = make_route_request(job.spec, *catalog_, now_);
        Result<RouteRequest> probed = own ? make_metering_request(job.spec, *catalog_) : own.error();
        if (!probed) {
            known_demands_.erase(known);
            return probed.error();
        }
        known->second = {std::move(own->operators), std::move(probed->operators)};
    }
    of_spec = &known->second;
    return of_spec;
}

const std::string& SchedulingBatch::spec_kind_of(const KnownSpec& spec)
{
    std::string& kind = spec_kinds_[&spec];
    if (kind.empty()) kind = server::spec_kind_of(spec.spec, *catalog_);
    return kind;
}

Result<RouteRequest> SchedulingBatch::request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request = make_route_terms(job.spec, *catalog_, now_);
    request.operators = (*demands)->own;
    set_origin(request, {job.job_type, job.submitter, job.takes_operators}, *catalog_);
    request.is_probe = job.label == "probe";
    request.refused_by = job.refused_by;
    // A probe measures for the network, whatever project it is kept under.
    if (!request.is_probe) apply_rules(find_rules(catalog_->projects, job.spec.project), request);
    request.gpu_threshold = catalog_->gpu_threshold;
    request.follows_gpu_threshold = true;
    ledger_->gpu_shares.set(request);
    return request;
}

} // namespace fathom::server
