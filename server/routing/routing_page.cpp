#include "server/routing/routing_page.hpp"

#include "core/base/log.hpp"
#include "core/decide/route_json.hpp"
#include "server/routing/locked_units.hpp"
#include "server/routing/waiting_reason.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <set>

namespace fathom::server {
namespace {

std::string place_of(const Candidate& candidate)
{
    return candidate.center + "/" + candidate.unit_type;
}

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// Errors of one job's content must not stop the others; those of the moment end the page.
bool is_of_the_moment(Errc code)
{
    return code == Errc::kUnavailable || code == Errc::kDeadline || code == Errc::kConflict || code == Errc::kInternal;
}

/// Equal for jobs that execute the same.
std::string key_of(const std::vector<OperatorUse>& operators)
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

NewJobEvent placed_event(const JobId& job, const AttemptId& attempt, const Candidate& winner)
{
    NewJobEvent event;
    event.job_id = job;
    event.state = JobState::kPlaced;
    event.cause = "placed at " + place_of(winner) + ": " + winner.reason;
    event.evidence = {{"attempt_id", attempt.value},       {"center_id", winner.center_id.value},
                      {"center", winner.center},           {"unit_type_id", winner.unit_type_id.value},
                      {"unit_type", winner.unit_type},     {"unit_count", winner.unit_count},
                      {"run_s", winner.prediction.run_s},  {"low_s", winner.prediction.low_s},
                      {"high_s", winner.prediction.high_s}};
    return event;
}

} // namespace

RoutingPage::RoutingPage(const RoutingSettings& settings, CatalogCache& catalog, ProbePlanner& planner,
                         WaitingJobEnder& ender, Timestamp now)
    : settings_(&settings), cache_(&catalog), planner_(&planner), ender_(&ender), now_(now), catalog_(catalog.get()),
      ledger_(*catalog_, {}, {}, now_)
{
}

Result<PageReport> RoutingPage::run(pqxx::work& transaction, PassState state, std::int64_t limit)
{
    report_.next = std::move(state);
    rebuild_ledger(transaction);
    report_.is_done = true;
    if (!report_.next.is_tick && !ledger_.has_free_unit()) return std::move(report_);
    if (const Result<void> found = find_metered_types(transaction); !found) return found.error();
    const ClaimRange range{report_.next.after, limit, report_.next.metered_types};
    const std::vector<WaitingJob> jobs = claim_waiting_jobs(transaction, range);
    for (const WaitingJob& job : jobs) {
        report_.next.after = job.id.value;
        if (!is_worth_a_look(job)) continue;
        if (const Result<void> routed = route_job(transaction, job); !routed) {
            const Error error = routed.error();
            if (is_of_the_moment(error.code)) return error;
            log_error("job_not_routed", {{"job_id", job.id.value}, {"error", describe(error)}});
            const std::string reason = "cannot be routed: " + error.detail;
            if (reason != job.waiting_reason) reasons_.push_back({job.id, reason});
        }
    }
    update_to_metered(transaction, metered_);
    update_to_metering(transaction, metering_);
    commit_placements(transaction);
    update_waiting_reasons(transaction, reasons_);
    record_job_events(transaction, events_);
    // A short page is not the end when other replicas held rows; the next tick sees those.
    report_.is_end = jobs.size() < static_cast<std::size_t>(limit);
    report_.has_free_unit = ledger_.has_free_unit();
    report_.is_done = report_.is_end || (!report_.next.is_tick && !report_.has_free_unit);
    return std::move(report_);
}

Result<void> RoutingPage::find_metered_types(pqxx::work& transaction)
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

bool RoutingPage::is_worth_a_look(const WaitingJob& job) const
{
    return report_.next.is_tick || job.waiting_reason.empty() || job.state == JobState::kMetering ||
           ledger_.has_free_unit();
}

void RoutingPage::rebuild_ledger(pqxx::work& transaction)
{
    const std::vector<Reservation> reserved = select_reservations(transaction);
    ledger_ = UnitLedger(*catalog_, reserved, report_.next.planned, now_);
    // Decided in this page, not yet written.
    for (const Placement& placement : placements_) {
        const Candidate& winner = placement.winner;
        ledger_.reserve({winner.unit_type_id, winner.unit_count, winner.held_s(), 0, placement.project});
    }
}

void RoutingPage::ensure_fresh_catalog(pqxx::work& transaction)
{
    if (is_fresh_) return;
    is_fresh_ = true;
    catalog_ = cache_->reload(transaction);
    rebuild_ledger(transaction);
}

Result<void> RoutingPage::route_job(pqxx::work& transaction, const WaitingJob& job)
{
    const Result<bool> ended = end_overdue(transaction, job);
    if (!ended) return ended.error();
    if (*ended) return {};
    WaitingJob current = job;
    if (job.state == JobState::kMetering) {
        finish_metering(transaction, job);
        current.is_metered = true;
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
    return place_or_wait(current, *request);
}

Result<bool> RoutingPage::end_overdue(pqxx::work& transaction, const WaitingJob& job)
{
    if (!job.spec.deadline || *job.spec.deadline > now_) return false;
    const std::string waited = job.waiting_reason.empty() ? std::string() : ": " + job.waiting_reason;
    const Result<void> ended = ender_->end_waiting_job(transaction, job.id, job.label,
                                                       "its deadline " + format_rfc3339(*job.spec.deadline) +
                                                           " passed before it could be placed" + waited);
    if (!ended) return ended.error();
    ++report_.overdue;
    return true;
}

Result<bool> RoutingPage::meter(pqxx::work& transaction, const WaitingJob& job)
{
    Result<RouteRequest> wanted = metering_request_of(job);
    if (!wanted) return wanted.error();
    if (unmeasured_candidates(*wanted, ledger_.views(), now_, settings_->metering_period).empty()) return false;
    ensure_fresh_catalog(transaction);
    std::vector<UnitTypeId> targets;
    for (const std::size_t index : unmeasured_candidates(*wanted, ledger_.views(), now_, settings_->metering_period))
        targets.push_back(ledger_.views()[index].id);
    if (targets.empty()) return false;
    const Result<RequestedProbes> probes = request_probes(transaction, job, targets);
    if (!probes) {
        const Error error = probes.error();
        if (is_of_the_moment(error.code)) return error;
        log_warning("probes_not_requested", {{"job_id", job.id.value}, {"error", describe(error)}});
        return false;
    }
    if (!probes->obstacle.empty()) note_obstacle(job, probes->obstacle);
    if (probes->runs.empty()) return false;
    start_metering(job, *wanted, *probes);
    return true;
}

void RoutingPage::start_metering(const WaitingJob& job, const RouteRequest& wanted, const RequestedProbes& probes)
{
    metering_.push_back({job.id, job.spec.metering_wait_s});
    NewJobEvent event;
    event.job_id = job.id;
    event.state = JobState::kMetering;
    event.cause = "no fresh measurement of its type on " + join(unmeasured_places(wanted)) +
                  (probes.is_pretest ? ": its probe task is tried first" : ": probes first");
    event.evidence["metering_wait_s"] = job.spec.metering_wait_s;
    event.evidence["pretest"] = probes.is_pretest;
    event.evidence["probe_run_ids"] = Json::array();
    for (const ProbeRunId& run : probes.runs)
        event.evidence["probe_run_ids"].push_back(run.value);
    events_.push_back(std::move(event));
    ++report_.metering;
}

void RoutingPage::note_obstacle(const WaitingJob& job, const std::string& obstacle)
{
    // Once: from now on the job counts as metered and is not looked at for this again.
    metered_.push_back(job.id.value);
    events_.push_back({job.id, JobState::kQueued, obstacle + "; it is placed on what is known", Json::object()});
}

Result<RequestedProbes> RoutingPage::request_probes(pqxx::work& transaction, const WaitingJob& job,
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

Result<const RoutingPage::KnownDemands*> RoutingPage::demands_of(const WaitingJob& job)
{
    const std::string key = key_of(job.spec.operators);
    const auto known = known_demands_.find(key);
    if (known != known_demands_.end()) return &known->second;
    Result<RouteRequest> own = make_route_request(job.spec, *catalog_, now_);
    if (!own) return own.error();
    Result<RouteRequest> probed = make_metering_request(job.spec, *catalog_);
    if (!probed) return probed.error();
    return &(known_demands_[key] = {std::move(own->operators), std::move(probed->operators)});
}

Result<RouteRequest> RoutingPage::request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request = make_route_terms(job.spec, now_);
    request.job_type = job.job_type;
    request.operators = (*demands)->own;
    request.is_probe = job.label == "probe";
    return request;
}

Result<RouteRequest> RoutingPage::metering_request_of(const WaitingJob& job)
{
    const Result<const KnownDemands*> demands = demands_of(job);
    if (!demands) return demands.error();
    RouteRequest request;
    request.operators = (*demands)->probed;
    request.units = job.spec.units;
    return request;
}

void RoutingPage::finish_metering(pqxx::work& transaction, const WaitingJob& job)
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

std::vector<std::string> RoutingPage::unmeasured_places(const RouteRequest& request) const
{
    std::vector<std::string> places;
    for (const std::size_t index : unmeasured_candidates(request, ledger_.views(), now_, settings_->metering_period)) {
        const UnitTypeView& view = ledger_.views()[index];
        places.push_back(view.center_name + "/" + view.name);
    }
    return places;
}

Result<void> RoutingPage::place_or_wait(const WaitingJob& job, const RouteRequest& request)
{
    const Result<RouteRequest> wanted = metering_request_of(job);
    if (!wanted) return wanted.error();
    const auto began = std::chrono::steady_clock::now();
    Decision decision = route(request, ledger_.views());
    report_.decision_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!decision.winner) {
        ++report_.waiting;
        note_reason(job, waiting_reason_of(decision, now_));
        return {};
    }
    const Candidate winner = decision.candidates[*decision.winner];
    if (winner.plan.window) {
        // Its units stay free for others until then: it takes what there is when the window opens.
        ++report_.waiting;
        report_.next_window =
            std::min(report_.next_window.value_or(winner.plan.window->start), winner.plan.window->start);
        note_reason(job, waiting_reason_of(decision, now_));
        return {};
    }
    const Reservation reservation{winner.unit_type_id, winner.unit_count, winner.wait_s + winner.held_s(),
                                  winner.wait_s, request.project};
    // As it was decided on, before its own units are taken.
    std::string inputs;
    if (decision.can_start_now && !request.is_probe)
        inputs = route_inputs_json(request, ledger_.views(), {}, decision).dump();
    ledger_.reserve(reservation);
    if (decision.can_start_now) {
        if (const auto places = unmeasured_places(*wanted); !places.empty() && !request.operators.empty())
            decision.assumptions.push_back("no fresh measurement of all its operators on " + join(places) +
                                           ": placed on what is known");
        const bool has_run_time = !request.operators.empty() && winner.unknown_parts() == 0;
        NewPrediction prediction = make_prediction(winner, request, job.id, catalog_->prices.currency());
        placements_.push_back({job.id, std::move(decision), winner, has_run_time, request.is_probe,
                               std::move(prediction), std::move(inputs), request.project});
        return {};
    }
    report_.next.planned.push_back(reservation);
    ++report_.waiting;
    const bool may_refresh = report_.next.is_tick || job.waiting_reason.empty() || job.state == JobState::kMetering;
    if (may_refresh) note_reason(job, waiting_reason_of(decision, now_));
    return {};
}

void RoutingPage::note_reason(const WaitingJob& job, const std::string& reason)
{
    // A job that leaves metering has lost the reason that was read with it.
    if (reason != job.waiting_reason || job.state == JobState::kMetering) reasons_.push_back({job.id, reason});
}

void RoutingPage::commit_placements(pqxx::work& transaction)
{
    if (placements_.empty()) return;
    std::set<std::string> chosen;
    std::set<std::string> chosen_for_jobs;
    for (const Placement& placement : placements_) {
        chosen.insert(placement.winner.unit_type_id.value);
        if (!placement.is_probe) chosen_for_jobs.insert(placement.winner.unit_type_id.value);
    }
    LockedUnits units =
        lock_units(transaction, {chosen.begin(), chosen.end()}, {chosen_for_jobs.begin(), chosen_for_jobs.end()}, now_);
    std::vector<NewAttempt> attempts;
    std::vector<NewPrediction> predictions;
    std::set<std::string> centers;
    for (const Placement& placement : placements_) {
        const Candidate& winner = placement.winner;
        if (!units.take(winner.unit_type_id.value, placement.project, winner.unit_count, winner.held_s())) {
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
        events_.push_back(placed_event(placement.job, attempt.id, winner));
        centers.insert(winner.center_id.value);
        if (!placement.is_probe) {
            predictions.push_back(placement.prediction);
            predictions.back().attempt_id = attempt.id;
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
