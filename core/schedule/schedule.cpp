#include "core/schedule/schedule.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/route_json.hpp"
#include "core/schedule/scheduling.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace fathom {
namespace {

/// Turns move in steps, so that they need not be written at each look.
constexpr double kRanksPerDoubling = 4;
constexpr double kMiddleRank = 1000;
constexpr double kFirstRank = 1;

std::string turn_text(std::size_t position, std::size_t count, const OrderSettings& settings)
{
    return "no. " + std::to_string(position) + " of " + std::to_string(count) +
           " waiting jobs that were decided together, by " + std::string(to_string(settings.rule));
}

} // namespace

SchedulePlan Scheduling::run()
{
    look_ = look_at_jobs(tools_);
    plan_.waits = std::move(look_.waits);
    hold_probes();
    places_.weigh(look_.jobs.views);
    set_project_loads(tools_, look_.jobs.views);
    keep_for_overdue();
    start_in_rounds(*this);
    plan_rest();
    tell_turns();
    set_ranks();
    return std::move(plan_);
}

ScheduledStart& Scheduling::start(std::size_t job, const RouteRequest& request, Decision decision)
{
    ScheduledStart start{job, std::move(decision), {}, {}, {}};
    start.winner = start.decision.candidates[*start.decision.winner];
    // As it was decided on, before its own units are taken.
    if (!request.is_probe)
        start.inputs =
            route_inputs_json(request, ledger_.units().views(), ledger_.units().knowledge(), start.decision).dump();
    const double run_s = start.winner.prediction.run_s;
    ledger_.start(request, start.winner,
                  input_->may_queue ? std::max(run_s, kMinHeldWithQueue_s) : start.winner.held_s());
    ScheduledStart& made = plan_.starts.emplace_back(std::move(start));
    note_probe_start(job, made.winner.center_id);
    return made;
}

bool Scheduling::may_queue(std::size_t job, const Decision& decision) const
{
    const RouteRequest& request = jobs_[job].request;
    // Of a job without operators nothing is known but what others of its name took.
    if (!input_->may_queue || request.operators.empty() || request.units.is_exclusive() || !jobs_[job].gang.empty() ||
        request.is_probe || request.moves_data_itself() || !wants_units(decision))
        return false;
    const Candidate& winner = decision.candidates[*decision.winner];
    const UnitTypeView* const view = ledger_.units().find(winner.unit_type_id);
    const auto known = plan_.queue_room.find(winner.unit_type_id.value);
    // What is planned on a unit type waits for nobody who is at the center.
    const bool has_room = view != nullptr && view->holds.empty() && view->closures.empty() &&
                          (known == plan_.queue_room.end() || known->second > 0);
    return has_room && winner.unit_count == 1 && winner.unknown_parts() == 0 && winner.plan.start_s <= kMaxQueued_s &&
           winner.prediction.high_s <= kMaxQueuedRun_s && winner.correction.job_count >= kMinRunsOfQueued;
}

void Scheduling::queue(std::size_t job, Decision decision)
{
    decision.turn = "waits for its unit at the center, where it is expected to be free in " +
                    duration_text(decision.candidates[*decision.winner].plan.start_s);
    ScheduledStart& queued = start(job, ledger_.request_of(jobs_[job]), std::move(decision));
    queued.is_queued = true;
    const UnitTypeId& unit_type = queued.winner.unit_type_id;
    const std::int64_t all = kMaxQueuedPerUnit * ledger_.units().find(unit_type)->unit_count;
    --plan_.queue_room.try_emplace(unit_type.value, all).first->second;
}

StartRounds::Round Scheduling::start_next()
{
    const OrderCall asked = jobs_to_start(look_.jobs);
    if (asked.jobs.empty()) return Round::kNothing;
    const std::size_t started = plan_.starts.size();
    if (make_starts(asked, order_starts(asked.views, places_.loads(), input_->settings))) return Round::kRefused;
    return plan_.starts.size() > started ? Round::kStarted : Round::kNothing;
}

bool Scheduling::look_again()
{
    const std::span<const ScheduledStart> news = std::span(plan_.starts).subspan(viewed_starts_);
    viewed_starts_ = plan_.starts.size();
    return look_again_at_jobs(tools_, news_of(tools_, news), look_.kinds, look_.completion, look_.jobs);
}

bool Scheduling::drop_places()
{
    const OrderCall asked = jobs_to_start(look_.jobs);
    return !asked.jobs.empty() && drop_vain_waits(asked);
}

bool Scheduling::make_starts(const OrderCall& asked, const std::vector<OrderedStart>& starts)
{
    // Of a gang all or none: its members start in one go, wherever the first of them stands.
    std::map<std::string, std::vector<OrderedStart>> gangs;
    for (const OrderedStart& one : starts) {
        if (!asked.views[one.job].gang.empty()) gangs[asked.views[one.job].gang].push_back(one);
    }
    bool has_refused = false;
    std::set<std::string> seen;
    for (const OrderedStart& one : starts) {
        const WaitingJobView& view = asked.views[one.job];
        if (view.gang.empty()) {
            const bool is_started = start_alone(asked.jobs[one.job], view.options[one.option]);
            has_refused = has_refused || !is_started;
        } else if (seen.insert(view.gang).second) {
            const std::vector<OrderedStart>& members = gangs.at(view.gang);
            const bool is_started = start_gang(asked, members);
            has_refused = has_refused || !is_started;
            for (const OrderedStart& member : members)
                (is_started ? look_.jobs.is_done : look_.jobs.is_refused)[asked.jobs[member.job]] = true;
        }
    }
    return has_refused;
}

bool Scheduling::start_alone(std::size_t job, const JobOption& option)
{
    if (look_.jobs.is_done[job]) return false; // held, since another probe of its host started
    look_.jobs.is_done[job] = start_at(job, option);
    if (!look_.jobs.is_done[job]) lose_option(look_.jobs, job, option);
    return look_.jobs.is_done[job];
}

bool Scheduling::start_gang(const OrderCall& asked, const std::vector<OrderedStart>& members)
{
    const std::size_t started = plan_.starts.size();
    ledger_.begin_trial();
    const bool is_started = std::all_of(members.begin(), members.end(), [&](const OrderedStart& member) {
        return start_at(asked.jobs[member.job], asked.views[member.job].options[member.option]);
    });
    if (is_started) {
        ledger_.keep_trial();
        return true;
    }
    ledger_.undo_trial();
    plan_.starts.resize(started);
    std::erase_if(ordered_, [&](const OrderedPlace& one) { return one.start >= started; });
    return false;
}

bool Scheduling::start_at(std::size_t job, const JobOption& option)
{
    const UnitTypeView& unit_type = places_.unit_type(option.unit_type);
    RouteRequest request = ledger_.request_of(jobs_[job]);
    Decision decision = *decide(job);
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const auto is_there = [&](const Candidate& one) {
        return one.unit_type_id == unit_type.id && (one.feasible || is_set_aside(one));
    };
    const auto place = static_cast<std::size_t>(
        std::find_if(decision.candidates.begin(), decision.candidates.end(), is_there) - decision.candidates.begin());
    const bool is_own_choice = place == *decision.winner && decision.can_start_now &&
                               decision.candidates[place].unit_count == option.unit_count;
    if (!is_own_choice) {
        // The order's choice, not the job's own: what it is decided by again must say so.
        request.units.center = unit_type.center_id.value;
        request.units.type = unit_type.id.value;
        request.units.count = option.unit_count;
        Decision there = ledger_.decide(request);
        if (!there.winner || !there.can_start_now || !there.quota_obstacle.empty()) return false;
        if (place < decision.candidates.size()) {
            if (is_set_aside(decision.candidates[place])) take_back(decision, place);
            decision.candidates[place] = there.candidates[*there.winner];
            put_first(decision, place);
        } else {
            decision = std::move(there);
        }
    }
    ordered_.push_back({plan_.starts.size(), is_own_choice});
    start(job, request, std::move(decision));
    return true;
}

void Scheduling::tell_turns()
{
    const bool is_scarce = planned_ > 0 || std::any_of(ordered_.begin(), ordered_.end(),
                                                       [](const OrderedPlace& one) { return !one.is_own_choice; });
    if (!is_scarce) return; // each starts where it would go alone
    const auto waiting = std::count_if(look_.jobs.views.begin(), look_.jobs.views.end(),
                                       [](const WaitingJobView& view) { return !view.options.empty(); });
    for (const OrderedPlace& one : ordered_)
        plan_.starts[one.start].decision.turn =
            turn_text(one.start + 1, static_cast<std::size_t>(waiting), input_->settings);
}

void Scheduling::set_ranks()
{
    // As soon as their host is free probes are in line like all others.
    for (auto& [job, options] : held_probes_)
        look_.jobs.views[job].options = options;
    const OrderIndices indices = order_indices(look_.jobs.views, places_.loads(), input_->settings);
    for (ScheduledWait& wait : plan_.waits) {
        const OrderIndex& own = indices.jobs[wait.job];
        const double best = own.least();
        if (own.is_overdue)
            wait.priority_rank = kFirstRank;
        else if (!std::isfinite(best) || !(best > 0))
            wait.priority_rank = kLastRank;
        else
            wait.priority_rank =
                std::clamp(kMiddleRank + std::round(kRanksPerDoubling * portable::log2(best)) / kRanksPerDoubling,
                           kFirstRank + 1, kLastRank - 1);
    }
    std::sort(plan_.waits.begin(), plan_.waits.end(),
              [](const ScheduledWait& a, const ScheduledWait& b) { return a.job < b.job; });
}

SchedulePlan schedule(UnitLedger& units, const ScheduleInput& input)
{
    return Scheduling(units, input).run();
}

} // namespace fathom
