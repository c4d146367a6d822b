#include "core/schedule/schedule.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/queue/deferred_start.hpp"
#include "core/decide/queue/order_index.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/route_json.hpp"
#include "core/schedule/center_queues.hpp"
#include "core/schedule/decided_ledger.hpp"
#include "core/schedule/decided_places.hpp"
#include "core/schedule/wanted_places.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

namespace fathom {
namespace {

/// Turns move in steps, so that they need not be written at each look.
constexpr double kTurnsPerDoubling = 4;
constexpr double kMiddleTurn = 1000;
constexpr double kFirstTurn = 1;
/// A job of which so many places proved not to be free for it is left to be planned.
constexpr std::size_t kMaxLost = 4;

std::string turn_text(std::size_t position, std::size_t count, const OrderSettings& settings)
{
    return "no. " + std::to_string(position) + " of " + std::to_string(count) +
           " waiting jobs that were decided together, by " + std::string(to_string(settings.rule));
}

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

/// One call of schedule().
class Scheduling {
  public:
    Scheduling(UnitLedger& units, const ScheduleInput& input)
        : ledger_(units, input), input_(&input), jobs_(input.jobs),
          places_(units, input.busy_shares, input.shadow_prices), views_(jobs_.size()), is_done_(jobs_.size(), false),
          is_refused_(jobs_.size(), false)
    {
        plan_.queue_room = input.queue_room;
    }

    SchedulePlan run();

  private:
    /// A start that the order of the jobs has made.
    struct OrderedPlace {
        std::size_t start{}; ///< index into the plan's
        bool is_own_choice{};
    };
    /// The jobs that the order is asked about.
    struct Asked {
        std::vector<std::size_t> jobs;
        std::vector<WaitingJobView> views;
    };

    /// The places of each job on the ledger as it is, into views_; what cannot start anywhere goes to the waits.
    void view_all();
    using OptionsByKind = std::unordered_map<std::string_view, JobOptions>;
    void give(const OptionsByKind& by_kind);
    bool joins_center_queues(const OptionsByKind& by_kind) const;
    void load_projects();
    /// Starts what order_jobs says, again until it says nothing new.
    void start_in_order();
    /// What starts have changed since it was asked last.
    struct News {
        std::set<const UnitTypeView*> unit_types;
        std::set<std::string_view> projects;
    };
    News news_of_starts();
    bool concerns(const News& news, std::size_t job) const;
    /// Looks again at the jobs whose places starts have changed. False: there are none.
    bool view_again();
    std::vector<JobOption> with_run_times(std::vector<JobOption> options) const;
    /// True when some start could not be made, and units may be left for others.
    bool make_starts(const Asked& asked, const std::vector<OrderedStart>& starts);
    bool start_gang(const Asked& asked, const std::vector<OrderedStart>& members);
    bool start_at(std::size_t job, const JobOption& option);
    /// The order need not ask for this place again: for this job it is none.
    void lose(std::size_t job, const JobOption& option);
    /// Looks at what the order makes wait for better places. True when one of these places was none, and is gone.
    bool drop_vain_waits(const Asked& asked);
    void plan_rest();
    /// Starts it if it can without delaying others; else plans it where it would go by itself.
    void plan(std::size_t job);
    /// Plans it at the place that it waits for. False: on what is left there is none.
    bool plan_better(std::size_t job, std::size_t unit_type);
    void wait_for_winner(ScheduledWait wait);
    /// What overdue jobs that share no device wait for goes to nobody else: there may be enough free units for them,
    /// and yet no whole device as long as others start on these.
    void keep_for_overdue();
    /// For a job that waits for whole devices as many units are kept as soon as they are free, wherever: others who
    /// take units leave devices then, since centers fill devices of which somebody has a part first.
    void keep_free_for(const Candidate& winner, Reservation& planned) const;
    void set_turns();
    void tell_turns();

    Asked ask() const;
    /// On the ledger as it is.
    std::shared_ptr<const Decision> decide(std::size_t job) { return ledger_.decide(jobs_[job]); }
    ScheduledStart& start(std::size_t job, const RouteRequest& request, Decision decision);
    /// Whether a job that cannot start now may wait for the winner's unit at its center.
    bool may_queue(std::size_t job, const Decision& decision) const;
    void queue(std::size_t job, Decision decision);

    DecidedLedger ledger_;
    const ScheduleInput* input_;
    std::span<const ReadyJob> jobs_;
    SchedulePlan plan_;
    WantedPlaces places_;
    std::optional<CenterQueues> queues_;     ///< where one of the places has a queue
    std::vector<WaitingJobView> views_;      ///< of all jobs
    std::vector<bool> is_done_;              ///< decided: it starts, or it waits for something else than its turn
    std::vector<bool> is_refused_;           ///< its start did not come about; it is planned
    std::map<std::size_t, JobOptions> left_; ///< by job: its options, where some of them proved to be none
    std::map<std::size_t, std::size_t> deferred_starts_; ///< by job: the unit type that it waits for
    std::size_t viewed_starts_ = 0;                      ///< after which all jobs were looked at
    std::vector<OrderedPlace> ordered_;
    double typical_run_s_ = 0;
    std::size_t planned_ = 0;       ///< jobs that wait for units, so far
    DecidedLedger::Decisions seen_; ///< the first ones of all kinds
};

SchedulePlan Scheduling::run()
{
    view_all();
    load_projects();
    keep_for_overdue();
    start_in_order();
    plan_rest();
    set_turns();
    tell_turns();
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
    return plan_.starts.emplace_back(std::move(start));
}

bool Scheduling::may_queue(std::size_t job, const Decision& decision) const
{
    const RouteRequest& request = jobs_[job].request;
    // Of a job without operators nothing is known but what others of its name took.
    if (!input_->may_queue || request.operators.empty() || request.units.is_exclusive() || !jobs_[job].gang.empty() ||
        request.is_probe || request.transfer.moves_data() || !wants_units(decision))
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

void Scheduling::view_all()
{
    OptionsByKind by_kind;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const ReadyJob& job = jobs_[i];
        const std::shared_ptr<const Decision> known = decide(i);
        const Decision& decision = *known;
        WaitingJobView& view = views_[i];
        view.id = job.id;
        view.waited_s = job.waited_s;
        view.priority = job.priority;
        view.gang = job.gang;
        view.gang_size = job.gang_size;
        const auto [options, is_new] = by_kind.try_emplace(job.kind);
        if (is_new && wants_units(decision)) options->second = places_.options_of(job.request, decision);
        view.options = options->second;
        is_done_[i] = view.options.empty();
        if (is_done_[i]) plan_.waits.push_back({.job = i, .decision = known, .turn = kLastTurn});
    }
    seen_ = ledger_.decisions();
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
    places_.weigh(views_);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const TransferRequest& transfer = jobs_[i].request.transfer;
        if (!transfer.deadline || views_[i].options.empty()) continue;
        views_[i].latest_start_s =
            Seconds(*transfer.deadline - transfer.now).count() - shortest_run_s(views_[i].options);
    }
}

void Scheduling::give(const OptionsByKind& by_kind)
{
    for (std::size_t i = 0; i < jobs_.size(); ++i)
        views_[i].options = by_kind.at(jobs_[i].kind);
}

bool Scheduling::joins_center_queues(const OptionsByKind& by_kind) const
{
    return std::any_of(by_kind.begin(), by_kind.end(), [&](const auto& kind) {
        const JobOptions& options = kind.second;
        return std::any_of(options.begin(), options.end(),
                           [&](const JobOption& option) { return places_.unit_type(option.unit_type).has_queue(); });
    });
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
    for (const UnitTypeView& view : ledger_.units().views())
        sizes.push_back({view.id.value, view.unit_count});
    const std::vector<double> loads = progressive_loads(ledger_.project_uses(), sizes, takes);
    for (std::size_t i = 0; i < order.size(); ++i)
        views_[order[i]].fair_load = loads[i];
}

Scheduling::Asked Scheduling::ask() const
{
    Asked asked;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (is_done_[i] || is_refused_[i]) continue;
        asked.jobs.push_back(i);
        asked.views.push_back(views_[i]);
        if (const auto left = left_.find(i); left != left_.end()) asked.views.back().options = left->second;
    }
    return asked;
}

void Scheduling::start_in_order()
{
    for (int looks = 0;;) {
        Asked asked = ask();
        if (asked.jobs.empty()) return;
        const std::size_t started = plan_.starts.size();
        if (make_starts(asked, order_starts(asked.views, places_.loads(), input_->settings))) continue;
        if (plan_.starts.size() > started && looks++ < kMaxLooksAgain && view_again()) continue;
        asked = ask();
        if (asked.jobs.empty() || !drop_vain_waits(asked)) return;
    }
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
        if (is_done_[i] || is_refused_[i] || !depends_on_what_is_free(jobs_[i].request) || !concerns(news, i)) continue;
        has_looked = true;
        const auto [found, is_new] = by_kind.try_emplace(jobs_[i].kind);
        JobOptions& options = found->second;
        if (is_new) {
            const OfferedPlaces offered = ledger_.offered_places(jobs_[i]);
            if (offered.wants_units) options = with_run_times(places_.options_of(jobs_[i].request, offered));
            if (queues_) options = queues_->without_long(options);
        }
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

bool Scheduling::make_starts(const Asked& asked, const std::vector<OrderedStart>& starts)
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
            const std::size_t job = asked.jobs[one.job];
            is_done_[job] = start_at(job, view.options[one.option]);
            if (!is_done_[job]) lose(job, view.options[one.option]);
            has_refused = has_refused || !is_done_[job];
        } else if (seen.insert(view.gang).second) {
            const std::vector<OrderedStart>& members = gangs.at(view.gang);
            const bool is_started = start_gang(asked, members);
            has_refused = has_refused || !is_started;
            for (const OrderedStart& member : members)
                (is_started ? is_done_ : is_refused_)[asked.jobs[member.job]] = true;
        }
    }
    return has_refused;
}

bool Scheduling::start_gang(const Asked& asked, const std::vector<OrderedStart>& members)
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

void Scheduling::lose(std::size_t job, const JobOption& option)
{
    JobOptions& known = left_.try_emplace(job, views_[job].options).first->second;
    std::vector<JobOption> left(known.begin(), known.end());
    std::erase_if(left, [&](const JobOption& one) {
        return one.unit_type == option.unit_type && one.unit_count == option.unit_count;
    });
    known = left;
    is_refused_[job] = left.empty() || views_[job].options.size() - left.size() >= kMaxLost;
}

bool Scheduling::start_at(std::size_t job, const JobOption& option)
{
    const UnitTypeView& unit_type = places_.unit_type(option.unit_type);
    RouteRequest request = ledger_.request_of(jobs_[job]);
    Decision decision = *decide(job);
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const auto place = static_cast<std::size_t>(
        std::find_if(decision.candidates.begin(), decision.candidates.end(),
                     [&](const Candidate& one) { return one.unit_type_id == unit_type.id && one.feasible; }) -
        decision.candidates.begin());
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

bool Scheduling::drop_vain_waits(const Asked& asked)
{
    deferred_starts_.clear();
    bool has_dropped = false;
    for (const DeferredStart& wait : find_deferred_starts(asked.views, places_.loads(), input_->settings)) {
        const std::size_t job = asked.jobs[wait.job];
        const JobOption& better = asked.views[wait.job].options[wait.option];
        const std::shared_ptr<const Decision> known = decide(job);
        const Decision& decision = *known;
        const std::optional<std::size_t> here = free_place(decision);
        const std::optional<std::size_t> there = later_place(decision, places_.unit_type(better.unit_type).id);
        const std::vector<Candidate>& places = decision.candidates;
        // The order does not know what is kept for others, nor how long starts take there.
        const bool pays = decision.winner && here && there &&
                          places[*there].start.wait_s - places[*here].start.wait_s <= wait.longest_wait_s;
        deferred_starts_.emplace(job, better.unit_type);
        if (pays || !here) continue;
        lose(job, better);
        has_dropped = true;
    }
    return has_dropped;
}

void Scheduling::plan_rest()
{
    Asked rest;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (is_done_[i]) continue;
        rest.jobs.push_back(i);
        rest.views.push_back(views_[i]);
    }
    if (rest.jobs.empty()) return;
    for (const std::size_t next : order_waiting(rest.views, places_.loads(), input_->settings)) {
        const std::size_t job = rest.jobs[next];
        const auto better = deferred_starts_.find(job);
        if (better != deferred_starts_.end() && plan_better(job, better->second)) continue;
        plan(job);
    }
}

void Scheduling::plan(std::size_t job)
{
    if (planned_ >= kMaxPlanned) {
        // Less is free than when it was looked at first, so what could not start then cannot start now.
        const std::shared_ptr<const Decision>& seen = seen_.at(jobs_[job].kind);
        if (wants_units(*seen) && !seen->can_start_now) {
            wait_for_winner({.job = job, .decision = seen});
            return;
        }
    }
    std::shared_ptr<const Decision> decision = decide(job);
    const bool may_start = decision->winner && decision->can_start_now && decision->quota_obstacle.empty();
    if (may_start && jobs_[job].gang.empty()) {
        Decision own = *decision;
        // It ends before those that go before it need its units.
        if (planned_ > 0) own.turn = "before its turn: it delays no job that goes first";
        start(job, ledger_.request_of(jobs_[job]), std::move(own));
    } else if (may_queue(job, *decision)) {
        queue(job, *decision);
    } else {
        wait_for_winner({.job = job, .decision = std::move(decision)});
    }
}

bool Scheduling::plan_better(std::size_t job, std::size_t unit_type)
{
    Decision decision = *decide(job);
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const std::optional<std::size_t> here = free_place(decision);
    const std::optional<std::size_t> there = later_place(decision, places_.unit_type(unit_type).id);
    if (!here || !there) return false;
    Candidate left_free = decision.candidates[*here];
    decision.winner = there;
    decision.can_start_now = false;
    wait_for_winner({.job = job,
                     .decision = std::make_shared<const Decision>(std::move(decision)),
                     .left_free = std::move(left_free)});
    return true;
}

void Scheduling::wait_for_winner(ScheduledWait wait)
{
    const Decision& decision = *wait.decision;
    if (wants_units(decision)) {
        wait.waits_for_units = true;
        if (planned_++ < kMaxPlanned) {
            wait.planned = reservation_of(jobs_[wait.job].request, decision.candidates[*decision.winner]);
            keep_free_for(decision.candidates[*decision.winner], *wait.planned);
            ledger_.reserve(*wait.planned);
        }
    }
    plan_.waits.push_back(std::move(wait));
}

void Scheduling::keep_free_for(const Candidate& winner, Reservation& planned) const
{
    const UnitTypeView* const view = ledger_.units().find(winner.unit_type_id);
    if (winner.whole_devices == 0 || view == nullptr) return;
    const double free_s = view->availability.earliest_start(winner.unit_count, winner.held_s());
    planned.from_s = std::min(planned.from_s, free_s);
}

void Scheduling::keep_for_overdue()
{
    std::vector<std::size_t> exclusive;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (!is_done_[i] && jobs_[i].request.units.is_exclusive() && jobs_[i].gang.empty()) exclusive.push_back(i);
    }
    if (exclusive.empty()) return;
    const OrderIndices indices = order_indices(views_, places_.loads(), input_->settings);
    for (const std::size_t job : exclusive) {
        if (!indices.jobs[job].is_overdue) continue;
        std::shared_ptr<const Decision> decision = decide(job);
        const bool waits = wants_units(*decision) && !decision->can_start_now;
        if (!waits || decision->candidates[*decision->winner].whole_devices == 0) continue;
        is_done_[job] = true;
        wait_for_winner({.job = job, .decision = std::move(decision)});
    }
}

void Scheduling::tell_turns()
{
    const bool is_scarce = planned_ > 0 || std::any_of(ordered_.begin(), ordered_.end(),
                                                       [](const OrderedPlace& one) { return !one.is_own_choice; });
    if (!is_scarce) return; // each starts where it would go alone
    const auto waiting =
        std::count_if(views_.begin(), views_.end(), [](const WaitingJobView& view) { return !view.options.empty(); });
    for (const OrderedPlace& one : ordered_)
        plan_.starts[one.start].decision.turn =
            turn_text(one.start + 1, static_cast<std::size_t>(waiting), input_->settings);
}

void Scheduling::set_turns()
{
    const OrderIndices indices = order_indices(views_, places_.loads(), input_->settings);
    for (ScheduledWait& wait : plan_.waits) {
        const OrderIndex& own = indices.jobs[wait.job];
        const double best = own.least();
        if (own.is_overdue)
            wait.turn = kFirstTurn;
        else if (!std::isfinite(best) || !(best > 0))
            wait.turn = kLastTurn;
        else
            wait.turn =
                std::clamp(kMiddleTurn + std::round(kTurnsPerDoubling * portable::log2(best)) / kTurnsPerDoubling,
                           kFirstTurn + 1, kLastTurn - 1);
    }
    std::sort(plan_.waits.begin(), plan_.waits.end(),
              [](const ScheduledWait& a, const ScheduledWait& b) { return a.job < b.job; });
}

} // namespace

SchedulePlan schedule(UnitLedger& units, const ScheduleInput& input)
{
    return Scheduling(units, input).run();
}

} // namespace fathom
