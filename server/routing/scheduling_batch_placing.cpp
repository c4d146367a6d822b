#include "server/routing/scheduling_batch.hpp"

// Deciding on what is ready, and writing what was decided.

#include "core/base/log.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/schedule/waiting_reason.hpp"
#include "server/routing/device_tenants.hpp"
#include "server/routing/gpu_rooms.hpp"
#include "server/routing/locked_units.hpp"
#include "server/routing/probe_hosts_store.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <set>

namespace fathom::server {
namespace {

/// Of the center's own batch system before the unit type.
double queued_s_of(const CatalogSnapshot& catalog, const UnitTypeId& id)
{
    const UnitTypeView* const view = catalog.find_unit_type(id.value);
    return view == nullptr ? 0 : view->queued_s;
}

NewJobEvent placed_event(const JobId& job, const AttemptId& attempt, const Decision& decision, const Candidate& winner)
{
    NewJobEvent event;
    event.job_id = job;
    event.state = JobState::kPlaced;
    event.cause = "placed at " + place_text(winner) + ": " + winner.reason;
    if (!decision.turn.empty()) event.cause += "; " + decision.turn;
    event.evidence = {{"attempt_id", attempt.value},       {"center_id", winner.center_id.value},
                      {"center", winner.center},           {"unit_type_id", winner.unit_type_id.value},
                      {"unit_type", winner.unit_type},     {"unit_count", winner.unit_count},
                      {"run_s", winner.prediction.run_s},  {"low_s", winner.prediction.low_s},
                      {"high_s", winner.prediction.high_s}};
    return event;
}

/// Others may decide on a batch's jobs after so long: whoever has them must be gone.
constexpr std::chrono::seconds kClaimLifetime{10};

std::string gang_text(const WaitingJob& job)
{
    const JobSpec& spec = job.spec;
    return spec.gang.id.empty() ? std::string() : spec.project + '\n' + job.submitter + '\n' + spec.gang.id;
}

} // namespace

void SchedulingBatch::read_input(pqxx::work& transaction)
{
    decided_ = leave_out_gangs(transaction);
    std::vector<std::string> ids;
    std::set<std::string> probed_centers;
    for (const std::size_t index : decided_) {
        const auto& [job, request] = ready_[index];
        ids.push_back(job.id.value);
        if (request.is_probe) probed_centers.insert(request.units.center);
        input_.jobs.push_back({.id = job.id.value,
                               .request = request,
                               .waited_s = std::max(0.0, Seconds(now_ - job.submitted_at).count()),
                               .priority = job.spec.priority,
                               .gang = gang_text(job),
                               .gang_size = job.spec.gang.size,
                               .kind = kind_of(job, spec_kind_of(*job.known))});
    }
    if (ids.empty()) return;
    read_projects(transaction);
    input_.loads = loads_;
    input_.may_queue = true;
    input_.queue_room = ledger_->queue_room.left;
    input_.probe_hosts = select_probe_hosts(transaction, probed_centers);
    replace_routing_claim(transaction, settings_->replica.value, ids, kClaimLifetime);
}

UnitLedger& SchedulingBatch::begin_ledger()
{
    CycleLedger& ledger = *ledger_;
    if (ledger.units) {
        ledger.units->begin_batch();
        return *ledger.units;
    }
    ledger.catalog = catalog_;
    ledger.now = now_;
    ledger.reserved = ledger.attempts.reservations(catalog_->unit_types);
    ledger.planned = reservations_of(report_.next.planned);
    ledger.gpu_rooms = std::move(gpu_rooms_);
    return ledger.units.emplace(catalog_->unit_types, cache_->knowledge_for(*catalog_), catalog_->calendar,
                                ledger.reserved, ledger.planned, now_, columns_->get(catalog_), ledger.gpu_rooms);
}

Result<void> SchedulingBatch::plan()
{
    const auto began = std::chrono::steady_clock::now();
    UnitLedger& units = begin_ledger();
    if (settings_->recorder != nullptr) note_cycle(units);
    SchedulePlan plan = schedule(units, input_);
    const double decision_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    report_.decision_s += decision_s;
    if (cycle_) {
        cycle_->plan = record_of(plan);
        cycle_->decision_s = decision_s;
    }
    const std::set<std::string> settled = settle_impossible_gangs(units, plan.waits);
    std::erase_if(plan.waits, [&](const ScheduledWait& wait) { return settled.contains(input_.jobs[wait.job].id); });
    keep_waiting(plan.waits);
    ledger_->queue_room.left = std::move(plan.queue_room);
    for (ScheduledStart& start : plan.starts) {
        const Result<void> placed = place(ready_[decided_[start.job]], std::move(start));
        if (!placed) return placed.error();
    }
    report_.has_free_unit = units.has_free_unit();
    report_.is_done = report_.is_end || (!report_.next.is_tick && !report_.has_free_unit);
    if (cycle_) cycle_->moment.input = std::move(input_); // nobody asks for it any more
    return {};
}

void SchedulingBatch::note_cycle(const UnitLedger& units)
{
    cycle_.emplace();
    cycle_->id = CycleId::make();
    cycle_id_ = cycle_->id.value;
    cycle_->catalog = catalog_;
    cycle_->knowledge = units.knowledge();
    cycle_->moment.now = now_;
    cycle_->moment.calendar = catalog_->calendar;
    cycle_->moment.reserved = ledger_->reserved;
    cycle_->moment.gpu_rooms = units.gpu_rooms();
    cycle_->moment.planned = ledger_->planned;
    cycle_->moment.planned.insert(cycle_->moment.planned.end(), units.reserved_later().begin(),
                                  units.reserved_later().end());
}

void SchedulingBatch::read_projects(pqxx::work& transaction)
{
    std::set<std::string> limited;
    for (const std::size_t index : decided_) {
        const std::string& project = ready_[index].request.project;
        if (!ready_[index].request.is_probe && find_rules(catalog_->projects, project).has_quota())
            limited.insert(project);
    }
    input_.project_uses = uses_->get(transaction, *catalog_);
    if (!limited.empty())
        input_.quota_uses = select_quota_uses(transaction, {limited.begin(), limited.end()}, scores_of(*catalog_));
}

Result<void> SchedulingBatch::place(const Ready& ready, ScheduledStart start)
{
    const Result<RouteRequest> wanted = metering_request_of(ready.job);
    if (!wanted) return wanted.error();
    const bool knows_work = !ready.request.operators.empty();
    if (const auto places = unmeasured_places(*wanted); !places.empty() && knows_work) {
        std::string text;
        for (const std::string& place : places)
            text += (text.empty() ? "" : ", ") + place;
        start.decision.assumptions.push_back("no fresh measurement of all its operators on " + text +
                                             ": placed on what is known");
    }
    Placement placement;
    placement.job = ready.job.id;
    placement.has_run_time = knows_work && start.winner.unknown_parts() == 0;
    placement.is_probe = ready.request.is_probe;
    placement.prediction =
        make_prediction(start.winner, ready.request, ready.job.id, asked_limit_s(ready.job.spec),
                        queued_s_of(*catalog_, start.winner.unit_type_id), catalog_->prices.currency());
    placement.project = ready.request.project;
    placement.gpu_memory = ready.request.units.gpu_memory;
    placement.gang = gang_text(ready.job);
    placement.decision = std::move(start.decision);
    placement.winner = std::move(start.winner);
    if (start.is_queued) placement.queued_s = placement.winner.plan.start_s;
    placement.inputs = std::move(start.inputs);
    placements_.push_back(std::move(placement));
    return {};
}

void SchedulingBatch::keep_waiting(const std::vector<ScheduledWait>& waits)
{
    for (const ScheduledWait& wait : waits) {
        const WaitingJob& job = ready_[decided_[wait.job]].job;
        ++report_.waiting;
        if (wait.planned) report_.next.planned.push_back({job.id.value, *wait.planned});
        if (wait.decision->winner) {
            // Its units stay free for others until then: it takes what there is when the window opens.
            if (const auto& window = wait.decision->candidates[*wait.decision->winner].plan.window)
                report_.next_window = std::min(report_.next_window.value_or(window->start), window->start);
        }
        const bool may_refresh = report_.next.is_tick || job.waiting_reason.empty() ||
                                 job.state == JobState::kMetering || !wait.waits_for_units;
        if (!may_refresh) continue;
        const std::string reason = waiting_reason_of(wait, now_, catalog_->prices.currency());
        const GangRequest& gang = job.spec.gang;
        note_reason(job, gang.id.empty() ? reason
                                         : "waits until all " + std::to_string(gang.size) + " members of gang " +
                                               gang.id + " can start together; alone it " + reason);
        note_rank(job, wait.priority_rank);
    }
}

void SchedulingBatch::note_reason(const WaitingJob& job, const std::string& reason)
{
    // A job that leaves metering has lost the reason that was read with it.
    if (reason != job.waiting_reason || job.state == JobState::kMetering) reasons_.push_back({job.id, reason});
}

void SchedulingBatch::note_rank(const WaitingJob& job, double rank)
{
    if (rank != job.priority_rank) ranks_.push_back({job.id, rank});
}

std::vector<DecidedJob> SchedulingBatch::changed_jobs() const
{
    std::set<std::string_view> changed;
    for (const Placement& placement : placements_)
        changed.insert(placement.job.value);
    for (const GangEnd& end : gang_ends_)
        changed.insert(end.job.value);
    for (const WaitingReason& reason : reasons_)
        changed.insert(reason.id.value);
    for (const NewRank& one : ranks_)
        changed.insert(one.id.value);
    std::vector<DecidedJob> jobs;
    for (const std::size_t index : decided_) {
        const WaitingJob& job = ready_[index].job;
        if (changed.contains(job.id.value)) jobs.push_back({job.id, job.version});
    }
    return jobs;
}

Result<BatchReport> SchedulingBatch::commit(pqxx::work& transaction) const
{
    BatchReport report = report_;
    const std::set<std::string> held = lock_decided_jobs(transaction, changed_jobs());
    const auto holds = [&held](const JobId& id) { return held.contains(id.value); };
    if (const Result<void> ended = end_gangs(transaction, held); !ended) return ended.error();
    commit_placements(transaction, held, report);
    std::vector<WaitingReason> reasons;
    std::vector<NewRank> ranks;
    std::copy_if(reasons_.begin(), reasons_.end(), std::back_inserter(reasons),
                 [&](const WaitingReason& one) { return holds(one.id); });
    std::copy_if(ranks_.begin(), ranks_.end(), std::back_inserter(ranks),
                 [&](const NewRank& one) { return holds(one.id); });
    update_waiting(transaction, reasons, ranks);
    replace_routing_claim(transaction, settings_->replica.value, {}, std::chrono::seconds(0));
    return report;
}

Result<void> SchedulingBatch::end_gangs(pqxx::work& transaction, const std::set<std::string>& held) const
{
    for (const GangEnd& end : gang_ends_) {
        if (!held.contains(end.job.value)) continue;
        const Result<void> done = terminator_->end_waiting_job(transaction, end.job, end.label, end.reason);
        if (!done) return done.error();
    }
    return {};
}

/// What placements take from, under locks until the transaction ends.
struct SchedulingBatch::LockedPlaces {
    LockedUnits units;
    std::set<std::string> limited{}; ///< projects with quotas
    QuotaUses used{};                ///< of these, with what was taken here
    ScoreOf score_of{};              ///< where there are any
};

SchedulingBatch::LockedPlaces SchedulingBatch::lock_places(pqxx::work& transaction) const
{
    std::set<std::string> chosen;
    std::set<std::string> chosen_for_jobs;
    std::set<std::string> limited;
    for (const Placement& placement : placements_) {
        chosen.insert(placement.winner.unit_type_id.value);
        if (placement.is_probe) continue;
        chosen_for_jobs.insert(placement.winner.unit_type_id.value);
        if (find_rules(catalog_->projects, placement.project).has_quota()) limited.insert(placement.project);
    }
    LockedPlaces locked{lock_units(transaction, {chosen.begin(), chosen.end()},
                                   {chosen_for_jobs.begin(), chosen_for_jobs.end()}, *clock_)};
    const bool needs_gpu_memory = std::any_of(placements_.begin(), placements_.end(), [](const Placement& placement) {
        return placement.gpu_memory.all_bytes() > 0;
    });
    if (needs_gpu_memory && has_divided_devices(catalog_->unit_types))
        locked.units.know_gpu_rooms(select_gpu_rooms(transaction, {chosen.begin(), chosen.end()}));
    if (!limited.empty()) {
        const std::vector<std::string> names(limited.begin(), limited.end());
        lock_projects(transaction, names);
        locked.score_of = scores_of(*catalog_);
        locked.used = select_quota_uses(transaction, names, locked.score_of);
    }
    locked.limited = std::move(limited);
    return locked;
}

bool SchedulingBatch::take_units(const Placement& placement, LockedPlaces& locked)
{
    const Candidate& winner = placement.winner;
    const std::string& unit_type = winner.unit_type_id.value;
    if (placement.queued_s) return locked.units.queue(unit_type);
    const UnitSharing sharing = winner.whole_devices > 0 ? UnitSharing::kExclusive : UnitSharing::kAllowed;
    return locked.units.take(unit_type, placement.project, winner.unit_count, winner.held_s(), sharing) &&
           locked.units.admit(unit_type, placement.gpu_memory);
}

bool SchedulingBatch::take_quota(const Placement& placement, LockedPlaces& locked) const
{
    if (placement.is_probe || !locked.limited.contains(placement.project)) return true;
    const QuotaUse wanted = use_of(placement.winner, locked.score_of(placement.winner.unit_type_id.value));
    QuotaUse& use = locked.used[placement.project];
    const Quota& quota = find_rules(catalog_->projects, placement.project).quota;
    if (!quota_obstacle(quota, use, wanted).empty()) return false;
    add(use, wanted);
    return true;
}

SchedulingBatch::CheckedPlacements SchedulingBatch::check_placements(pqxx::work& transaction,
                                                                     const std::set<std::string>& held) const
{
    LockedPlaces locked = lock_places(transaction);
    std::vector<bool> is_good;
    std::set<std::string> broken_gangs;
    for (const Placement& placement : placements_) {
        const bool good =
            held.contains(placement.job.value) && take_units(placement, locked) && take_quota(placement, locked);
        if (!good && !placement.gang.empty()) broken_gangs.insert(placement.gang);
        is_good.push_back(good);
    }
    for (std::size_t i = 0; i < placements_.size(); ++i) {
        if (broken_gangs.contains(placements_[i].gang)) is_good[i] = false;
    }
    return {std::move(is_good), locked.units.moment()};
}

NewAttempt SchedulingBatch::attempt_of(const Placement& placement) const
{
    const Candidate& winner = placement.winner;
    NewAttempt attempt;
    attempt.id = AttemptId::make();
    attempt.job_id = placement.job;
    attempt.center_id = winner.center_id;
    attempt.unit_type_id = winner.unit_type_id;
    attempt.unit_count = winner.unit_count;
    attempt.is_exclusive = winner.whole_devices > 0;
    if (placement.has_run_time) attempt.run_s = winner.prediction.run_s;
    attempt.queued_s = placement.queued_s;
    attempt.decision = to_json(placement.decision, catalog_->prices.currency()).dump();
    attempt.inputs = placement.inputs;
    return attempt;
}

void SchedulingBatch::commit_placements(pqxx::work& transaction, const std::set<std::string>& held,
                                        BatchReport& report) const
{
    if (placements_.empty()) return;
    const CheckedPlacements checked = check_placements(transaction, held);
    std::vector<NewJobEvent> events;
    std::vector<NewAttempt> attempts;
    std::vector<NewPrediction> predictions;
    std::set<std::string> centers;
    for (std::size_t i = 0; i < placements_.size(); ++i) {
        const Placement& placement = placements_[i];
        const Candidate& winner = placement.winner;
        if (!checked.is_good[i]) {
            ++report.conflicts;
            continue;
        }
        NewAttempt attempt = attempt_of(placement);
        after_commit([job = placement.job, id = attempt.id, center = winner.center_id, type = winner.unit_type_id] {
            log_info("job_placed", {{"job_id", job.value},
                                    {"attempt_id", id.value},
                                    {"center_id", center.value},
                                    {"unit_type_id", type.value}});
        });
        events.push_back(placed_event(placement.job, attempt.id, placement.decision, winner));
        centers.insert(winner.center_id.value);
        if (!placement.is_probe) {
            predictions.push_back(placement.prediction);
            predictions.back().attempt_id = attempt.id;
            report.started.push_back({placement.project, winner.unit_type_id.value, winner.unit_count});
        }
        report.placed_jobs.insert(placement.job.value);
        attempts.push_back(std::move(attempt));
    }
    insert_attempts(transaction, attempts, {settings_->replica.value, cycle_id_}, checked.start);
    insert_predictions(transaction, predictions);
    record_job_events(transaction, events);
    report.placed = static_cast<std::int64_t>(attempts.size());
    for (const std::string& center : centers)
        notify(transaction, "dispatch", center);
}

} // namespace fathom::server
