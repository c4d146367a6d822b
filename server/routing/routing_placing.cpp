#include "server/routing/routing_page.hpp"

// Deciding on what is ready, and writing what was decided.

#include "core/base/log.hpp"
#include "core/decide/decision_text.hpp"
#include "core/schedule/waiting_reason.hpp"
#include "server/routing/locked_units.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

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

std::string gang_text(const WaitingJob& job)
{
    const JobSpec& spec = job.spec;
    return spec.gang.id.empty() ? std::string() : spec.project + '\n' + job.submitter + '\n' + spec.gang.id;
}

} // namespace

Result<void> RoutingPage::decide_ready(pqxx::work& transaction)
{
    const std::vector<std::size_t> decided = leave_out_gangs(transaction);
    ScheduleInput input;
    for (const std::size_t index : decided) {
        const auto& [job, request] = ready_[index];
        input.jobs.push_back({.id = job.id.value,
                              .request = request,
                              .waited_s = std::max(0.0, Seconds(now_ - job.submitted_at).count()),
                              .priority = job.spec.priority,
                              .gang = gang_text(job),
                              .gang_size = job.spec.gang.size,
                              .kind = kind_of(job)});
    }
    if (input.jobs.empty()) return {};
    read_projects(transaction, decided, input);
    input.busy_shares = loads_->busy_shares;
    input.worths = loads_->worths;
    const auto began = std::chrono::steady_clock::now();
    SchedulePlan plan = schedule(*ledger_, input);
    report_.decision_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (ScheduledStart& start : plan.starts) {
        const Result<void> placed = place(ready_[decided[start.job]], std::move(start));
        if (!placed) return placed.error();
    }
    return keep_waiting(transaction, decided, plan.waits);
}

void RoutingPage::read_projects(pqxx::work& transaction, const std::vector<std::size_t>& decided, ScheduleInput& input)
{
    std::set<std::string> limited;
    for (const std::size_t index : decided) {
        const std::string& project = ready_[index].request.project;
        if (!ready_[index].request.is_probe && find_rules(catalog_->projects, project).has_quota())
            limited.insert(project);
    }
    input.project_uses = uses_->get(transaction, *catalog_);
    if (!limited.empty())
        input.quota_uses = select_quota_uses(transaction, {limited.begin(), limited.end()}, scores_of(*catalog_));
}

Result<void> RoutingPage::place(const Ready& ready, ScheduledStart start)
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
    placement.prediction = make_prediction(start.winner, ready.request, ready.job.id, catalog_->prices.currency());
    placement.project = ready.request.project;
    placement.gang = gang_text(ready.job);
    placement.decision = std::move(start.decision);
    placement.winner = std::move(start.winner);
    placement.inputs = std::move(start.inputs);
    placements_.push_back(std::move(placement));
    return {};
}

Result<void> RoutingPage::keep_waiting(pqxx::work& transaction, const std::vector<std::size_t>& decided,
                                       const std::vector<ScheduledWait>& waits)
{
    const Result<std::set<std::string>> settled = settle_impossible_gangs(transaction, decided, waits);
    if (!settled) return settled.error();
    for (const ScheduledWait& wait : waits) {
        const WaitingJob& job = ready_[decided[wait.job]].job;
        if (settled->contains(job.id.value)) continue;
        ++report_.waiting;
        if (wait.planned) report_.next.planned.push_back(*wait.planned);
        if (wait.decision.winner) {
            // Its units stay free for others until then: it takes what there is when the window opens.
            if (const auto& window = wait.decision.candidates[*wait.decision.winner].plan.window)
                report_.next_window = std::min(report_.next_window.value_or(window->start), window->start);
        }
        const bool may_refresh =
            report_.next.is_tick || job.waiting_reason.empty() || job.state == JobState::kMetering || !wait.planned;
        if (!may_refresh) continue;
        std::string reason = waiting_reason_of(wait.decision, now_, catalog_->prices.currency());
        if (wait.left_free)
            reason += better_wait_text(wait.decision.candidates[*wait.decision.winner], *wait.left_free);
        const GangRequest& gang = job.spec.gang;
        note_reason(job, gang.id.empty() ? reason
                                         : "waits until all " + std::to_string(gang.size) + " members of gang " +
                                               gang.id + " can start together; alone it " + reason);
        note_turn(job, wait.turn);
    }
    return {};
}

void RoutingPage::note_reason(const WaitingJob& job, const std::string& reason)
{
    // A job that leaves metering has lost the reason that was read with it.
    if (reason != job.waiting_reason || job.state == JobState::kMetering) reasons_.push_back({job.id, reason});
}

void RoutingPage::note_turn(const WaitingJob& job, double turn)
{
    if (turn != job.turn) turns_.push_back({job.id, turn});
}

std::vector<bool> RoutingPage::check_placements(pqxx::work& transaction) const
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
    LockedUnits units = lock_units(transaction, {chosen.begin(), chosen.end()},
                                   {chosen_for_jobs.begin(), chosen_for_jobs.end()}, *clock_);
    QuotaUses used;
    ScoreOf score_of;
    if (!limited.empty()) {
        const std::vector<std::string> names(limited.begin(), limited.end());
        lock_projects(transaction, names);
        score_of = scores_of(*catalog_);
        used = select_quota_uses(transaction, names, score_of);
    }
    std::vector<bool> is_good;
    std::set<std::string> broken_gangs;
    for (const Placement& placement : placements_) {
        const Candidate& winner = placement.winner;
        bool good = units.take(winner.unit_type_id.value, placement.project, winner.unit_count, winner.held_s());
        if (good && !placement.is_probe && limited.contains(placement.project)) {
            const QuotaUse wanted = use_of(winner, score_of(winner.unit_type_id.value));
            QuotaUse& use = used[placement.project];
            good = quota_obstacle(find_rules(catalog_->projects, placement.project).quota, use, wanted).empty();
            if (good) add(use, wanted);
        }
        if (!good && !placement.gang.empty()) broken_gangs.insert(placement.gang);
        is_good.push_back(good);
    }
    for (std::size_t i = 0; i < placements_.size(); ++i) {
        if (broken_gangs.contains(placements_[i].gang)) is_good[i] = false;
    }
    return is_good;
}

void RoutingPage::commit_placements(pqxx::work& transaction)
{
    if (placements_.empty()) return;
    const std::vector<bool> is_good = check_placements(transaction);
    std::vector<NewAttempt> attempts;
    std::vector<NewPrediction> predictions;
    std::set<std::string> centers;
    for (std::size_t i = 0; i < placements_.size(); ++i) {
        const Placement& placement = placements_[i];
        const Candidate& winner = placement.winner;
        if (!is_good[i]) {
            ++report_.conflicts;
            continue;
        }
        NewAttempt attempt;
        attempt.id = AttemptId::make();
        attempt.job_id = placement.job;
        attempt.center_id = winner.center_id;
        attempt.unit_type_id = winner.unit_type_id;
        attempt.unit_count = winner.unit_count;
        if (placement.has_run_time) attempt.run_s = winner.prediction.run_s;
        attempt.decision = to_json(placement.decision, catalog_->prices.currency()).dump();
        attempt.inputs = placement.inputs;
        log_info("job_placed", {{"job_id", placement.job.value},
                                {"attempt_id", attempt.id.value},
                                {"center_id", winner.center_id.value},
                                {"unit_type_id", winner.unit_type_id.value}});
        events_.push_back(placed_event(placement.job, attempt.id, placement.decision, winner));
        centers.insert(winner.center_id.value);
        if (!placement.is_probe) {
            predictions.push_back(placement.prediction);
            predictions.back().attempt_id = attempt.id;
            report_.started.push_back({placement.project, winner.unit_type_id.value, winner.unit_count});
        }
        attempts.push_back(std::move(attempt));
    }
    insert_attempts(transaction, attempts, settings_->replica.value);
    insert_predictions(transaction, predictions);
    report_.placed = static_cast<std::int64_t>(attempts.size());
    for (const std::string& center : centers)
        notify(transaction, "dispatch", center);
}

} // namespace fathom::server
