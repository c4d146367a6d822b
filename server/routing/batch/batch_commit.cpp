#include "server/routing/batch/batch_commit.hpp"

#include "core/base/log.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "server/events/job_event_log.hpp"
#include "server/routing/in_use/device_tenants.hpp"
#include "server/routing/in_use/gpu_rooms.hpp"
#include "server/routing/in_use/locked_units.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <iterator>
#include <set>

namespace fathom::server {
namespace {

NewJobEvent placed_event(const JobId& job, const AttemptId& attempt, const Decision& decision, const Candidate& winner)
{
    NewJobEvent event;
    event.job_id = job;
    event.state = JobState::kPlaced;
    event.cause = "placed at " + place_text(winner) + ": " + winner.reason;
    if (!decision.rank_text.empty()) event.cause += "; " + decision.rank_text;
    event.evidence = {{"attempt_id", attempt.value},       {"center_id", winner.center_id.value},
                      {"center", winner.center},           {"unit_type_id", winner.unit_type_id.value},
                      {"unit_type", winner.unit_type},     {"unit_count", winner.unit_count},
                      {"run_s", winner.prediction.run_s},  {"low_s", winner.prediction.low_s},
                      {"high_s", winner.prediction.high_s}};
    return event;
}

Result<void> end_gangs(pqxx::work& transaction, const std::vector<GangEnd>& ends, WaitingJobTerminator& terminator,
                       const std::set<std::string>& held)
{
    for (const GangEnd& end : ends) {
        if (!held.contains(end.job.value)) continue;
        const Result<void> done = terminator.end_waiting_job(transaction, end.job, end.label, end.reason);
        if (!done) return done.error();
    }
    return {};
}

/// What placements take from, under locks until the transaction ends.
struct LockedPlaces {
    LockedUnits units;
    std::set<std::string> limited{}; ///< projects with quotas
    QuotaUses used{};                ///< of these, with what was taken here
    ScoreOf score_of{};              ///< where there are any
};

/// Locks the unit types and the projects with quotas of the placements.
LockedPlaces lock_places(pqxx::work& transaction, const PlannedBatch& planned, const Clock& clock)
{
    std::set<std::string> chosen;
    std::set<std::string> chosen_for_jobs;
    std::set<std::string> limited;
    for (const Placement& placement : planned.placements) {
        chosen.insert(placement.winner.unit_type_id.value);
        if (placement.is_probe) continue;
        chosen_for_jobs.insert(placement.winner.unit_type_id.value);
        if (find_rules(planned.catalog->projects, placement.project).has_quota()) limited.insert(placement.project);
    }
    LockedPlaces locked{lock_units(transaction, {chosen.begin(), chosen.end()},
                                   {chosen_for_jobs.begin(), chosen_for_jobs.end()}, clock)};
    const bool needs_gpu_memory =
        std::any_of(planned.placements.begin(), planned.placements.end(),
                    [](const Placement& placement) { return placement.gpu_memory.all_bytes() > 0; });
    if (needs_gpu_memory && has_divided_devices(planned.catalog->unit_types))
        locked.units.know_gpu_rooms(select_gpu_rooms(transaction, {chosen.begin(), chosen.end()}));
    if (!limited.empty()) {
        const std::vector<std::string> names(limited.begin(), limited.end());
        lock_projects(transaction, names);
        locked.score_of = scores_of(*planned.catalog);
        locked.used = select_quota_uses(transaction, names, locked.score_of);
    }
    locked.limited = std::move(limited);
    return locked;
}

/// Takes the units, or a place in the line at the center. @return false when these are gone.
bool take_units(const Placement& placement, LockedPlaces& locked)
{
    const Candidate& winner = placement.winner;
    const std::string& unit_type = winner.unit_type_id.value;
    if (placement.queued_s) return locked.units.queue(unit_type);
    const UnitSharing sharing = winner.whole_devices > 0 ? UnitSharing::kExclusive : UnitSharing::kAllowed;
    return locked.units.take(unit_type, placement.project, winner.unit_count, winner.held_s(), sharing) &&
           locked.units.admit(unit_type, placement.gpu_memory);
}

/// Takes what the job needs of its project's quota, if there is one. @return false when not so much is left.
bool take_quota(const Placement& placement, const CatalogSnapshot& catalog, LockedPlaces& locked)
{
    if (placement.is_probe || !locked.limited.contains(placement.project)) return true;
    const QuotaUse wanted = use_of(placement.winner, locked.score_of(placement.winner.unit_type_id.value));
    QuotaUse& use = locked.used[placement.project];
    const Quota& quota = find_rules(catalog.projects, placement.project).quota;
    if (!quota_obstacle(quota, use, wanted).empty()) return false;
    add(use, wanted);
    return true;
}

/// Which of the placements can be written, and the moment at which they start.
struct CheckedPlacements {
    std::vector<bool> is_good;
    Timestamp start{};
};

/// Which of the placements can be written: of jobs that are `held`, under the locks of their unit types and of projects
/// with quotas. Of a gang all or none.
CheckedPlacements check_placements(pqxx::work& transaction, const PlannedBatch& planned, const Clock& clock,
                                   const std::set<std::string>& held)
{
    LockedPlaces locked = lock_places(transaction, planned, clock);
    std::vector<bool> is_good;
    std::set<std::string> broken_gangs;
    for (const Placement& placement : planned.placements) {
        const bool good = held.contains(placement.job.value) && take_units(placement, locked) &&
                          take_quota(placement, *planned.catalog, locked);
        if (!good && !placement.gang.empty()) broken_gangs.insert(placement.gang);
        is_good.push_back(good);
    }
    for (std::size_t i = 0; i < planned.placements.size(); ++i) {
        if (broken_gangs.contains(planned.placements[i].gang)) is_good[i] = false;
    }
    return {std::move(is_good), locked.units.moment()};
}

NewAttempt attempt_of(const Placement& placement, const CatalogSnapshot& catalog)
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
    attempt.decision = to_json(placement.decision, catalog.prices.currency()).dump();
    attempt.inputs = placement.inputs;
    return attempt;
}

void commit_placements(pqxx::work& transaction, const PlannedBatch& planned, const BatchTools& tools,
                       const std::set<std::string>& held, BatchReport& report)
{
    if (planned.placements.empty()) return;
    const CheckedPlacements checked = check_placements(transaction, planned, *tools.clock, held);
    std::vector<NewJobEvent> events;
    std::vector<NewAttempt> attempts;
    std::vector<NewPrediction> predictions;
    std::set<std::string> centers;
    for (std::size_t i = 0; i < planned.placements.size(); ++i) {
        const Placement& placement = planned.placements[i];
        const Candidate& winner = placement.winner;
        if (!checked.is_good[i]) {
            ++report.conflicts;
            continue;
        }
        NewAttempt attempt = attempt_of(placement, *planned.catalog);
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
    insert_attempts(transaction, attempts, {tools.settings->replica.value, planned.cycle_id}, checked.start);
    insert_predictions(transaction, predictions);
    record_job_events(transaction, events);
    report.placed = static_cast<std::int64_t>(attempts.size());
    for (const std::string& center : centers)
        notify(transaction, "dispatch", center);
}

/// Keeps the divisions of jobs that are `held`. The next cycle, which is called for, places what they are now.
void commit_divisions(pqxx::work& transaction, const std::vector<DecidedDivision>& divisions,
                      const std::set<std::string>& held, BatchReport& report)
{
    std::vector<NewJobEvent> events;
    for (const DecidedDivision& division : divisions) {
        if (!held.contains(division.job.id.value)) {
            ++report.conflicts;
            continue;
        }
        update_to_divided(transaction, division);
        events.push_back(division.event);
    }
    record_job_events(transaction, events);
    if (!events.empty()) notify(transaction, "route", "divided");
}

} // namespace

Result<BatchReport> commit_batch(pqxx::work& transaction, const PlannedBatch& planned, const BatchTools& tools)
{
    BatchReport report = planned.report;
    const std::set<std::string> held = lock_decided_jobs(transaction, planned.changed_jobs);
    const auto holds = [&held](const JobId& id) { return held.contains(id.value); };
    if (const Result<void> ended = end_gangs(transaction, planned.gang_ends, *tools.terminator, held); !ended)
        return ended.error();
    commit_divisions(transaction, planned.divisions, held, report);
    commit_placements(transaction, planned, tools, held, report);
    std::vector<WaitingReason> reasons;
    std::vector<NewRank> ranks;
    std::copy_if(planned.notes.reasons.begin(), planned.notes.reasons.end(), std::back_inserter(reasons),
                 [&](const WaitingReason& one) { return holds(one.id); });
    std::copy_if(planned.notes.ranks.begin(), planned.notes.ranks.end(), std::back_inserter(ranks),
                 [&](const NewRank& one) { return holds(one.id); });
    update_waiting(transaction, reasons, ranks);
    replace_routing_claim(transaction, tools.settings->replica.value, {}, std::chrono::seconds(0));
    return report;
}

} // namespace fathom::server
